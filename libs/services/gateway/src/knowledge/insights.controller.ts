import { Controller, Get, Inject, Param, Query, Req } from '@nestjs/common';
import { Failure, type InsightList, type InsightView } from '@conclave/contracts';
import type { SynthesisRecord } from '@conclave/ports';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { textIn } from '../http/query.js';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { RunDirectory } from '../runs/run-directory.js';
import { graphOf } from './reachable-graph.js';

/** Insights that the knowledge graph learned from answers, with their sources; for callers of the same tenant. */
@Controller('v1/knowledge/insights')
export class InsightsController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
  ) {}

  @Get()
  async ofRun(@Req() request: Request, @Query() query: Record<string, unknown>): Promise<InsightList> {
    const caller = await this.callers.identify(request);
    const run = textIn(query, 'run');
    if (run === null) throw new Failure('REQUEST_INVALID', 'Add `?run=` with the id of a run.', { param: 'run' });
    const { runId } = await this.runs.header(run, caller);
    const found = await graphOf(this.options).synthesis({ tenant: caller.tenant, by: { runId } });
    return { object: 'list', data: found ? [viewOf(found)] : [] };
  }

  @Get(':id')
  async one(@Req() request: Request, @Param('id') id: string): Promise<InsightView> {
    const { tenant } = await this.callers.identify(request);
    const found = await graphOf(this.options).synthesis({ tenant, by: { id } });
    if (!found) throw new Failure('INSIGHT_NOT_FOUND');
    return viewOf(found);
  }
}

const viewOf = ({ id, text, insightType, domain, entities, confidence, trust, flagged, origins }: SynthesisRecord): InsightView => ({
  object: 'insight',
  id,
  text,
  insight_type: insightType,
  domain,
  entities: [...entities],
  confidence,
  trust,
  flagged,
  learned_from: origins.map(({ runId, at, answer, sources }) => ({ run: runId, at, answer, sources: [...sources] })),
});
