import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Put, Req } from '@nestjs/common';
import { type Deleted, SkillApproval, SkillChange, type SkillList, type SkillView } from '@conclave/contracts';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { Skills } from './skills.js';

/** Admin routes for skills. Adding one and approving it are two calls. */
@Controller('v1/admin/skills')
export class SkillsController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(Skills) private readonly skills: Skills,
  ) {}

  @Get()
  async list(@Req() request: Request): Promise<SkillList> {
    await this.callers.identifyOperator(request);
    return this.skills.list();
  }

  @Get(':name')
  async one(@Req() request: Request, @Param('name') name: string): Promise<SkillView> {
    await this.callers.identifyOperator(request);
    return this.skills.view(name);
  }

  @Put(':name')
  async change(@Req() request: Request, @Param('name') name: string): Promise<SkillView> {
    const { actor } = await this.callers.identifyOperator(request);
    const { text } = parseBody(SkillChange, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    return this.changed(await this.skills.change(name, text, actor), actor);
  }

  @Post(':name/approval')
  @HttpCode(200)
  async approve(@Req() request: Request, @Param('name') name: string): Promise<SkillView> {
    const { actor } = await this.callers.identifyOperator(request);
    const { approved, version } = parseBody(SkillApproval, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    return this.changed(await this.skills.approve(name, version, approved, actor), actor);
  }

  @Delete(':name')
  async remove(@Req() request: Request, @Param('name') name: string): Promise<Deleted> {
    const { actor } = await this.callers.identifyOperator(request);
    await this.skills.remove(name, actor);
    this.options.logger.info('skill removed', { skill: name, actor });
    return { object: 'deleted', id: name };
  }

  private changed(view: SkillView, actor: string): SkillView {
    this.options.logger.info('skill changed', { skill: view.name, version: view.version, approved: view.approved, actor });
    return view;
  }
}
