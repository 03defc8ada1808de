import { Controller, Get, HttpCode, Inject, Param, Post, Put, Req } from '@nestjs/common';
import {
  RollbackRequest,
  TemplateChange,
  type TemplateCheck,
  TemplateCheckRequest,
  type TemplateList,
  type TemplateView,
} from '@conclave/contracts';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody, parseChange } from '../http/request-shape.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { TemplateOptions } from './template-options.js';

/** Admin routes for templates: read, check, change, go back. */
@Controller('v1/admin/templates')
export class TemplatesController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'logger'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(TemplateOptions) private readonly templates: TemplateOptions,
  ) {}

  @Get()
  async list(@Req() request: Request): Promise<TemplateList> {
    await this.callers.identifyOperator(request);
    return { object: 'list', data: [...(await this.templates.list())] };
  }

  @Post(':id/check')
  @HttpCode(200)
  async check(@Req() request: Request, @Param('id') id: string): Promise<TemplateCheck> {
    await this.callers.identifyOperator(request);
    return this.templates.check(id, parseChange(TemplateCheckRequest, (await readJsonBody(request, this.limits.maxBodyBytes)).value));
  }

  @Post(':id/rollback')
  @HttpCode(200)
  async rollBack(@Req() request: Request, @Param('id') id: string): Promise<TemplateView> {
    const { actor } = await this.callers.identifyOperator(request);
    const { version } = parseBody(RollbackRequest, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    return this.noted(await this.templates.rollBack(id, version ?? null, actor), actor);
  }

  @Get(':id')
  async one(@Req() request: Request, @Param('id') id: string): Promise<TemplateView> {
    await this.callers.identifyOperator(request);
    return this.templates.view(id);
  }

  @Put(':id')
  async change(@Req() request: Request, @Param('id') id: string): Promise<TemplateView> {
    const { actor } = await this.callers.identifyOperator(request);
    const { options, settings, version } = parseBody(TemplateChange, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    return this.noted(await this.templates.change(id, { options, settings }, actor, version ?? null), actor);
  }

  private noted(view: TemplateView, actor: string): TemplateView {
    this.options.logger.info('template changed', { template: view.id, version: view.version, actor });
    return view;
  }
}
