import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import { Contradiction, ContradictionDecision, type ContradictionList, Failure } from '@conclave/contracts';
import { type QuarantinedTriple, STATE, type StateStore } from '@conclave/ports';
import { graphJudgementKey, graphJudgementMs } from '@conclave/strategies';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { pageLimit, textIn } from '../http/query.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { graphOf } from './reachable-graph.js';

/** Contradictions in the knowledge graph that wait for a person's decision. */
@Controller('v1/admin/knowledge/quarantine')
export class QuarantineController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(STATE) private readonly state: Pick<StateStore, 'now' | 'caches'>,
    @Inject(Callers) private readonly callers: Callers,
  ) {}

  @Get()
  async list(@Req() request: Request, @Query() query: Record<string, unknown>): Promise<ContradictionList> {
    const { tenant } = await this.callers.identifyAdmin(request);
    const state = Contradiction.shape.state.safeParse(textIn(query, 'state') ?? 'open');
    if (!state.success) throw new Failure('REQUEST_INVALID', '`state` must be open, accepted or rejected.', { param: 'state' });
    const found = await graphOf(this.options).quarantine({ tenant, limit: pageLimit(query), state: state.data });
    return { object: 'list', data: found.map(viewOf) };
  }

  @Post(':id')
  @HttpCode(200)
  async decide(@Req() request: Request, @Param('id') id: string): Promise<Contradiction> {
    const { tenant, actor } = await this.callers.identifyAdmin(request);
    const { accept } = parseBody(ContradictionDecision, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    const decided = await graphOf(this.options).decideQuarantine({ tenant, id, accept, actor, at: await this.state.now() });
    if (!decided) throw new Failure('CONTRADICTION_NOT_FOUND');
    await this.state.caches.write({ tenant, key: graphJudgementKey, value: `${id}/${decided.state}`, ttlMs: graphJudgementMs, tags: [] });
    this.options.logger.info('contradiction decided', { contradiction: id, state: decided.state, actor });
    return viewOf(decided);
  }
}

const viewOf = ({ object: objectName, subjectType: _s, objectType: _o, contradicts, runs, ...rest }: QuarantinedTriple): Contradiction => ({
  ...rest,
  object: 'contradiction',
  object_name: objectName,
  contradicts: [...contradicts],
  runs: [...runs],
});
