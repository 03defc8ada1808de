import { Controller, Get, Inject, Param, Put, Req } from '@nestjs/common';
import { TemplateChange, type TemplateView } from '@conclave/contracts';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { TemplateOptions } from './template-options.js';

/** Admin routes for the options of templates: read, change. */
@Controller('v1/admin/templates')
export class TemplatesController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'logger'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(TemplateOptions) private readonly templates: TemplateOptions,
  ) {}

  @Get(':id')
  async one(@Req() request: Request, @Param('id') id: string): Promise<TemplateView> {
    await this.callers.identifyOperator(request);
    return this.templates.view(id);
  }

  @Put(':id')
  async change(@Req() request: Request, @Param('id') id: string): Promise<TemplateView> {
    const { actor } = await this.callers.identifyOperator(request);
    const { options, version } = parseBody(TemplateChange, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    const view = await this.templates.change(id, options, actor, version ?? null);
    this.options.logger.info('template changed', { template: id, version: view.version, actor });
    return view;
  }
}
