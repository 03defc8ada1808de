import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Failure, isUpstreamOutage, type KnowledgeProposed, type RunCompleted } from '@conclave/contracts';
import { ENDED_READS, type EndedReads, EventPattern, keptRecords, LOGGER, type DeliveryContext, type Logger } from '@conclave/platform';
import {
  defer,
  EMBEDDER,
  forgetErasedRun,
  isDeferred,
  STATE,
  VECTORS,
  type Embedder,
  type ErasedDelivery,
  type HandlerOutcome,
  type StateStore,
  type Vectors,
} from '@conclave/ports';
import { confidenceUpdates, contributorsOf, keptMs, ratingUpdates, teaches } from '@conclave/strategies';
import * as z from 'zod';
import { KeptAnswers } from './kept-answers.js';
import { KeptResults } from './kept-results.js';

/** Milliseconds before unavailable vectors or an unavailable embedder are tried again. */
const awayMs = 2_000;

/** What produced an answer: its models, or the run whose cached answer it is. */
const Makers = z.object({
  models: z.array(z.object({ category: z.string(), model: z.string() })),
  from: z.string().nullable(),
});
const Rating = z.object({ rating: z.number(), eventId: z.string() });

const makersKey = (runId: string): string => `experts/${runId}`;
const ratingKey = (runId: string): string => `rating/${runId}`;

/**
 * Commit, then learn: a run that has ended fills the answer caches and the facts, and its experts' confidence counts for
 * their models. So does a rating; a bad one removes what was stored. Idempotent by event and by run, in any order of rating and run.
 * While the vectors are unavailable the records wait in the log: nothing is lost or dead-lettered.
 */
@Controller()
export class LearningHandler {
  private readonly kept: KeptAnswers;
  /** Null without vectors: nothing can be recalled. */
  private readonly results: KeptResults | null;

  constructor(
    @Inject(STATE)
    private readonly state: Pick<StateStore, 'caches' | 'scores' | 'now'> & { readonly runs: Pick<StateStore['runs'], 'erased'> },
    @Inject(VECTORS) private readonly vectors: Vectors | null,
    @Inject(EMBEDDER) embedder: Embedder | null,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'info'>,
    @Inject(ENDED_READS) private readonly reads: EndedReads = keptRecords,
  ) {
    this.kept = new KeptAnswers(state, vectors && embedder ? { vectors, embedder } : null);
    this.results = vectors && embedder ? new KeptResults(state, vectors, embedder) : null;
  }

  @EventPattern('RunCompleted')
  async onCompleted(@Payload() event: RunCompleted, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    const outcome = await this.learn(event, context);
    if (!isDeferred(outcome)) await this.reads.done(event, 'learning');
    return outcome;
  }

  /** Counts a dead letter as read: nothing will be learned from it, so nothing waits for it. */
  @EventPattern('dead:RunCompleted')
  async onDead(@Payload() { event }: { readonly event: RunCompleted }): Promise<HandlerOutcome> {
    await this.reads.done(event, 'learning');
    return [];
  }

  /**
   * A process may have died after it had stored what the run teaches, and before it saw that the run had been deleted: its record is
   * delivered again, without its content. The caches refuse what is stored late.
   */
  @EventPattern('erased:RunCompleted')
  async onErased(@Payload() { runId }: ErasedDelivery): Promise<HandlerOutcome> {
    const { vectors } = this;
    const erased = vectors ? await this.state.runs.erased(runId) : null;
    return vectors && erased ? this.whileAvailable(() => forgetErasedRun(vectors, erased.tenant, runId)) : [];
  }

  private async learn(event: RunCompleted, context: DeliveryContext): Promise<HandlerOutcome> {
    const { data, runId } = event;
    const { tenant } = data.caller;
    if (data.cached) {
      await this.remember(tenant, runId, { models: [], from: data.cached.runId });
      return this.whileAvailable(() => this.rateAgain(tenant, runId));
    }
    if (!teaches(data)) return [];
    const updates = confidenceUpdates(data.experts);
    if (updates.length > 0) await this.state.scores.add({ eventId: event.id, tenant, updates });
    await this.remember(tenant, runId, { models: [...contributorsOf(data.experts)], from: null });
    return this.whileAvailable(async () => {
      await this.kept.keep(event, context.signal);
      await this.results?.keep(event, context.signal);
      await this.rateAgain(tenant, runId);
    });
  }

  @EventPattern('KnowledgeProposed')
  async onProposed(@Payload() event: KnowledgeProposed): Promise<HandlerOutcome> {
    const { kind, tenant, about, rating } = event.data;
    if (kind !== 'feedback' || about === null || rating === null || rating === 3) return [];
    // Written before the run is read: a run that is learned at the same moment reads the rating after it has written its makers.
    await this.state.caches.write({
      tenant,
      key: ratingKey(about),
      value: { rating, eventId: event.id },
      ttlMs: keptMs.semantic,
      tags: [],
    });
    return this.whileAvailable(() => this.rate(tenant, about, { rating, eventId: event.id }));
  }

  private remember(tenant: string, runId: string, value: z.infer<typeof Makers>): Promise<boolean> {
    return this.state.caches.write({ tenant, key: makersKey(runId), value, ttlMs: keptMs.semantic, tags: [] });
  }

  /** Applies a rating that arrived before the run was learned. */
  private async rateAgain(tenant: string, runId: string): Promise<void> {
    const known = Rating.safeParse((await this.state.caches.read(tenant, ratingKey(runId)))?.value);
    if (known.success) await this.rate(tenant, runId, known.data);
  }

  private async rate(tenant: string, about: string, { rating, eventId }: z.infer<typeof Rating>): Promise<void> {
    const first = await this.makersOf(tenant, about);
    const source = first?.from ?? null;
    const makers = source === null ? first : await this.makersOf(tenant, source);
    const updates = ratingUpdates(rating, makers?.models ?? []);
    if (updates.length > 0) await this.state.scores.add({ eventId, tenant, updates });
    if (rating > 2) return;
    for (const runId of [about, ...(source === null ? [] : [source])]) await this.kept.takeAway(tenant, runId);
    this.logger.info('A bad rating removed an answer from the caches.', { run: source ?? about });
  }

  private async makersOf(tenant: string, runId: string): Promise<z.infer<typeof Makers> | null> {
    const read = Makers.safeParse((await this.state.caches.read(tenant, makersKey(runId)))?.value);
    return read.success ? read.data : null;
  }

  private async whileAvailable(write: () => Promise<void>): Promise<HandlerOutcome> {
    try {
      await write();
      return [];
    } catch (error) {
      if (error instanceof Failure && isAway(error)) return defer(awayMs);
      throw error;
    }
  }
}

/** Whether the vectors or the embedder's server are unavailable. An outage of our state store pauses the consumption by itself. */
const isAway = (failure: Failure): boolean => failure.code === 'VECTORS_UNAVAILABLE' || isUpstreamOutage(failure);
