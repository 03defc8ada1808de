import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { Readiness } from '@conclave/contracts';
import { broughtByExtensions } from '@conclave/strategies';
import type { Request, Response } from 'express';
import { Callers } from '../http/caller.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { Health } from './health.js';

/** Routes about the gateway itself. */
@Controller()
export class OperationsController {
  private openApiText?: Promise<string>;
  private asyncApiText?: Promise<string>;

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Health) private readonly health: Health,
    @Inject(Callers) private readonly callers: Callers,
  ) {}

  @Get('health/live')
  live(@Res() response: Response): void {
    response.json({ status: 'live' });
  }

  @Get(['health', 'health/ready'])
  async ready(@Req() request: Request, @Res() response: Response): Promise<void> {
    const red = [...(await this.health.red())];
    const reasons = (await this.callers.maySeeReasons(request)) ? { red, ...loaded() } : {};
    const readiness: Readiness = { status: red.length === 0 ? 'ready' : 'not_ready', ...reasons };
    if (red.length > 0) response.status(503).setHeader('retry-after', String(Math.min(60, this.limits.retryAfterS)));
    response.json(readiness);
  }

  @Get('v1/admin/health')
  async details(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.callers.identifyOperator(request);
    const red = [...(await this.health.red())];
    const readiness: Readiness = { status: red.length === 0 ? 'ready' : 'not_ready', red, ...loaded() };
    response.json(readiness);
  }

  @Get('openapi.json')
  async openApi(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.callers.identify(request);
    send(response, 'application/json; charset=utf-8', await (this.openApiText ??= this.options.openApi()));
  }

  @Get('asyncapi.json')
  async asyncApi(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.callers.identify(request);
    send(response, 'application/json; charset=utf-8', await (this.asyncApiText ??= this.options.asyncApi()));
  }
}

/** Extensions, so that an operator sees whether all processes have loaded the same. */
function loaded(): Pick<Readiness, 'extensions'> {
  const extensions = [...broughtByExtensions()];
  return extensions.length > 0 ? { extensions } : {};
}

const send = (response: Response, contentType: string, text: string): void => {
  response.setHeader('content-type', contentType);
  response.end(text);
};
