import { Controller, Get, HttpCode, Inject, Post, Req } from '@nestjs/common';
import { type ProviderList, type ProviderTest, ProviderTestRequest } from '@conclave/contracts';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { Providers } from './providers.js';

/** Admin routes for model servers: list, test. */
@Controller('v1/admin/providers')
export class ProvidersController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'logger'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(Providers) private readonly providers: Providers,
  ) {}

  @Get()
  async list(@Req() request: Request): Promise<ProviderList> {
    await this.callers.identifyOperator(request);
    return { object: 'list', data: [...(await this.providers.list())] };
  }

  @Post('test')
  @HttpCode(200)
  async test(@Req() request: Request): Promise<ProviderTest> {
    const { actor } = await this.callers.identifyOperator(request);
    const wanted = parseBody(ProviderTestRequest, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    const tested = await this.providers.test(wanted);
    this.options.logger.info('model server tested', { provider: wanted.name, host: hostOf(tested.base_url), ok: tested.ok, actor });
    return tested;
  }
}

const hostOf = (address: string | null): string | null => (address === null ? null : new URL(address).host);
