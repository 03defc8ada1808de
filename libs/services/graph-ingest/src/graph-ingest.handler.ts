import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { Event, RunCompleted } from '@conclave/contracts';
import { EventPattern } from '@conclave/platform';
import { GRAPH, type KnowledgeGraph } from '@conclave/ports';

/** Confidence of an insight whose answer the gap detector called complete, and of any other. */
const assessed = 0.9;
const unassessed = 0.6;

/** Writes what a committed run has learned into the knowledge graph. Idempotent by run and summary. */
@Controller()
export class GraphIngestHandler {
  constructor(@Inject(GRAPH) private readonly graph: KnowledgeGraph) {}

  @EventPattern('RunCompleted')
  async onCompleted(@Payload() event: RunCompleted): Promise<readonly Event[]> {
    const { insight, outcome, rule, caller, completedAt } = event.data;
    if (!insight || outcome === 'cancelled' || outcome === 'failed') return [];
    await this.graph.addSynthesis({
      tenant: caller.tenant,
      runId: event.runId,
      insight,
      domain: 'general',
      confidence: rule === 'D3' ? assessed : unassessed,
      at: completedAt,
    });
    return [];
  }
}
