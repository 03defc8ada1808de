import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Failure, type Event, type KnowledgeProposed, type RunCompleted } from '@conclave/contracts';
import {
  ENDED_READS,
  type EndedReads,
  EventPattern,
  keptRecords,
  LOGGER,
  METRICS,
  type DeliveryContext,
  type Logger,
  type Metrics,
} from '@conclave/platform';
import {
  defer,
  GRAPH,
  isDeferred,
  STATE,
  type DeadReason,
  type ErasedDelivery,
  type HandlerOutcome,
  type KnowledgeGraph,
  type StateStore,
  type Triple,
} from '@conclave/ports';
import { CALL_MAKER, type Calls, type WorkState } from '@conclave/calls';
import { domainOf, graphJudgementKey, graphJudgementMs, isUnassessed } from '@conclave/strategies';
import { DocumentIngest } from './document-ingest.js';
import { extractTriples } from './extraction.js';

/**
 * Confidence of an insight whose answer the gap check found complete, and of any other. It also limits the confidence of the answer's
 * triples.
 */
const assessed = 0.9;
const unassessed = 0.6;

/** Milliseconds before an unavailable graph is tried again. */
const awayMs = 2_000;

/**
 * Writes what a committed run has learned into the knowledge graph: entities, then relations, then the insight with its links.
 * Ratings change how much that is trusted. Idempotent by event, run and summary. While the graph is unavailable the records wait in
 * the log: nothing is lost or dead-lettered.
 *
 * A correction is not learned, because it is unassessed free text; only its rating counts.
 */
@Controller()
export class GraphIngestHandler {
  constructor(
    @Inject(GRAPH) private readonly graph: KnowledgeGraph,
    @Inject(STATE)
    private readonly state: Pick<WorkState, 'now'> & {
      readonly caches: Pick<StateStore['caches'], 'write'>;
      readonly runs: Pick<StateStore['runs'], 'erased'>;
    },
    @Inject(CALL_MAKER) private readonly maker: Calls,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(METRICS) private readonly metrics: Pick<Metrics, 'count'>,
    @Inject(DocumentIngest) private readonly documents: Pick<DocumentIngest, 'ingest' | 'dead'>,
    @Inject(ENDED_READS) private readonly reads: EndedReads = keptRecords,
  ) {}

  @EventPattern('RunCompleted')
  async onCompleted(@Payload() event: RunCompleted, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    const outcome = await this.learn(event, context);
    if (!isDeferred(outcome)) await this.reads.done(event, 'graph-ingest');
    return outcome;
  }

  /** Counts a dead letter as read: nothing will be learned from it, so nothing waits for it. */
  @EventPattern('dead:RunCompleted')
  async onDeadRun(@Payload() { event }: { readonly event: RunCompleted }): Promise<HandlerOutcome> {
    await this.reads.done(event, 'graph-ingest');
    return [];
  }

  /**
   * A process may have died after it had written what the run teaches, and before it saw that the run had been deleted: its record is
   * delivered again, without its content.
   */
  @EventPattern('erased:RunCompleted')
  async onErased(@Payload() { runId }: ErasedDelivery): Promise<HandlerOutcome> {
    const erased = await this.state.runs.erased(runId);
    return erased ? this.forget(erased.tenant, runId) : [];
  }

  private async learn(event: RunCompleted, context: DeliveryContext): Promise<HandlerOutcome> {
    const { data, runId } = event;
    const { insight, outcome, answer, sources, cached, learning, caller, completedAt } = data;
    // A cached answer was already learned from when it was first given.
    if (outcome === 'cancelled' || outcome === 'failed' || cached || learning.graph === 'off') return [];
    const asks = learning.graph === 'triples' && learning.models.length > 0 && answer !== null && answer.trim() !== '';
    // An earlier attempt may have been cut off after its writes.
    if ((asks || insight) && (await this.state.runs.erased(runId))) return this.forget(caller.tenant, runId);
    const read = asks
      ? await extractTriples(
          { state: this.state, maker: this.maker, logger: this.logger, metrics: this.metrics },
          event,
          answer,
          context.signal,
        )
      : null;
    if (read?.kind === 'busy') return defer(read.retryInMs);
    const confidence = confidenceOf(data);
    const at = { tenant: caller.tenant, runId, domain: domainOf(data.experts), at: completedAt };
    return this.whileAvailable(async () => {
      if (read && read.triples.length > 0) await this.addTriples(event.id, at, bounded(read.triples, confidence));
      if (insight) await this.graph.addSynthesis({ ...at, insight, confidence, answer, sources });
      // A run that was deleted in the meantime left a tombstone before it was forgotten: the later of the two processes forgets it.
      if ((asks || insight) && (await this.state.runs.erased(runId))) await this.forgetNow(caller.tenant, runId);
      return read?.records ?? [];
    });
  }

  @EventPattern('KnowledgeProposed')
  async onProposed(@Payload() event: KnowledgeProposed, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    const { kind, tenant, about, rating } = event.data;
    if (kind === 'erasure') return this.forget(tenant, about);
    if (kind === 'document') return this.documents.ingest(event, context.signal, context.redriven);
    if (kind === 'correction') this.logger.info('A correction could not be learned; only its rating counts.', { run: about ?? undefined });
    if (kind !== 'feedback' || about === null || rating === null || rating === 3) return [];
    return this.whileAvailable(async () => {
      const positive = rating > 3;
      const { relations, syntheses } = await this.graph.adjustTrust({ tenant, runId: about, eventId: event.id, positive });
      await this.state.caches.write({ tenant, key: graphJudgementKey, value: event.id, ttlMs: graphJudgementMs, tags: [] });
      this.logger.info('A rating changed the trust in what was learned from a run.', { run: about, positive, relations, syntheses });
      return [];
    });
  }

  @EventPattern('dead:KnowledgeProposed')
  async onDead(@Payload() dead: { readonly event: KnowledgeProposed; readonly reason: DeadReason }): Promise<readonly Event[]> {
    await this.documents.dead(dead.event, dead.reason);
    return [];
  }

  /** Used when the gateway cannot reach the graph itself, and when nothing else of a deleted run is left. */
  private forget(tenant: string, runId: string | null): Promise<HandlerOutcome> {
    return this.whileAvailable(async () => {
      if (runId === null) return [];
      await this.forgetNow(tenant, runId);
      return [];
    });
  }

  /** The run was erased before: nothing else removes it from files. */
  private async forgetNow(tenant: string, runId: string): Promise<void> {
    const { relations, syntheses } = await this.graph.forget({ tenant, runId });
    await this.graph.scrub?.();
    this.logger.info('The knowledge graph forgot a deleted run.', { run: runId, relations, syntheses });
  }

  private async addTriples(
    eventId: string,
    at: { readonly tenant: string; readonly runId: string; readonly domain: string; readonly at: number },
    triples: readonly Triple[],
  ): Promise<void> {
    const { added, confirmed, refused, quarantined } = await this.graph.addTriples({ ...at, eventId, source: 'answer', triples });
    const fields = { run: at.runId, added, confirmed, refused, quarantined: quarantined.length };
    if (quarantined.length > 0) this.logger.warn('A statement of a run contradicts the knowledge graph and waits for a decision.', fields);
    else this.logger.info('The knowledge graph learned from a run.', fields);
  }

  private async whileAvailable(write: () => Promise<HandlerOutcome>): Promise<HandlerOutcome> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof Failure && error.code === 'GRAPH_UNAVAILABLE') return defer(awayMs);
      throw error;
    }
  }
}

/** An answer counts as unassessed if its critic or its gap check is missing or unreadable. */
const confidenceOf = (run: RunCompleted['data']): number =>
  run.rule === 'D3' && !isUnassessed(run) && run.review !== 'unparsable' && run.review !== 'not_reviewed' ? assessed : unassessed;

const bounded = (triples: readonly Triple[], confidence: number): readonly Triple[] =>
  triples.map((triple) => ({ ...triple, confidence: Math.min(triple.confidence, confidence) }));
