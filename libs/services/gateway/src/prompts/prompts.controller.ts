import { Controller, Get, HttpCode, Inject, Param, Post, Put, Req } from '@nestjs/common';
import { PromptChange, type PromptList, type PromptView, RollbackRequest } from '@conclave/contracts';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { Prompts } from './prompts.js';

/** Admin routes for prompts: read, change, roll back. */
@Controller('v1/admin/prompts')
export class PromptsController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(Prompts) private readonly prompts: Prompts,
  ) {}

  @Get()
  async list(@Req() request: Request): Promise<PromptList> {
    await this.callers.identifyOperator(request);
    return { object: 'list', data: [...(await this.prompts.list())] };
  }

  @Get(':name')
  async one(@Req() request: Request, @Param('name') name: string): Promise<PromptView> {
    await this.callers.identifyOperator(request);
    return this.prompts.view(name);
  }

  @Put(':name')
  async change(@Req() request: Request, @Param('name') name: string): Promise<PromptView> {
    const { actor } = await this.callers.identifyOperator(request);
    const { text, version } = parseBody(PromptChange, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    return this.changed(await this.prompts.change(name, text, actor, version ?? null), actor);
  }

  @Post(':name/rollback')
  @HttpCode(200)
  async rollBack(@Req() request: Request, @Param('name') name: string): Promise<PromptView> {
    const { actor } = await this.callers.identifyOperator(request);
    const { version } = parseBody(RollbackRequest, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    return this.changed(await this.prompts.rollBack(name, version ?? null, actor), actor);
  }

  private changed(view: PromptView, actor: string): PromptView {
    this.options.logger.info('prompt changed', { prompt: view.name, version: view.version, overridden: view.overridden, actor });
    return view;
  }
}
