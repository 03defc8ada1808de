import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Failure, type RunCompleted } from '@conclave/contracts';
import { EventPattern } from '@conclave/platform';
import { defer, GRAPH, type HandlerOutcome, type KnowledgeGraph } from '@conclave/ports';

/** Confidence of an insight whose answer the gap detector called complete, and of any other. */
const assessed = 0.9;
const unassessed = 0.6;

/** Milliseconds before a graph that is away is asked again. */
const awayMs = 2_000;

/**
 * Writes what a committed run has learned into the knowledge graph. Idempotent by run and summary. While the graph is away
 * the records wait in the log: nothing is lost and nothing becomes a dead letter.
 */
@Controller()
export class GraphIngestHandler {
  constructor(@Inject(GRAPH) private readonly graph: KnowledgeGraph) {}

  @EventPattern('RunCompleted')
  async onCompleted(@Payload() event: RunCompleted): Promise<HandlerOutcome> {
    const { insight, outcome, rule, caller, completedAt } = event.data;
    if (!insight || outcome === 'cancelled' || outcome === 'failed') return [];
    try {
      await this.graph.addSynthesis({
        tenant: caller.tenant,
        runId: event.runId,
        insight,
        domain: 'general',
        confidence: rule === 'D3' ? assessed : unassessed,
        at: completedAt,
      });
    } catch (error) {
      if (error instanceof Failure && error.code === 'GRAPH_UNAVAILABLE') return defer(awayMs);
      throw error;
    }
    return [];
  }
}
