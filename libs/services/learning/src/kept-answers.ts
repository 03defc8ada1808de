import { dayOf, Failure, type RunCompleted } from '@conclave/contracts';
import {
  answersPurpose,
  collectionOf,
  documentsChangedSince,
  documentsTag,
  factsPurpose,
  forgetErasedRun,
  type CacheWrite,
  type Embedder,
  type StateStore,
  type VectorRecord,
  type Vectors,
} from '@conclave/ports';
import {
  factsOf,
  keptMs,
  mayServeAgain,
  runTag,
  semanticKey,
  servedAgainMs,
  teaches,
  type KeptAnswer,
  layerTag,
} from '@conclave/strategies';

/** Longest question, in characters, that the semantic cache can find: the comparison of questions reads no more. */
const longestComparable = 2_000;
const dayMs = 24 * 60 * 60_000;
/** Days after expiry on which the sweep still looks for an answer's vector, so that a quiet week leaves nothing behind. */
const sweptDays = 30;

/** Stores what a committed run leaves for later questions, and removes it again. Every write is idempotent by run id. */
export class KeptAnswers {
  /** Day on which this process last removed the expired vectors of each tenant. */
  private readonly swept = new Map<string, string>();

  constructor(
    private readonly state: Pick<StateStore, 'caches' | 'now'>,
    /** Null if answers are found only by the same question. */
    private readonly sources: { readonly vectors: Vectors; readonly embedder: Embedder } | null,
  ) {}

  /** Errors of the stores and the embedder pass through; a repeat continues. */
  async keep({ runId, data }: RunCompleted, signal: AbortSignal): Promise<void> {
    const { caching, caller, completedAt } = data;
    const age = (await this.state.now()) - completedAt;
    if (teaches(data)) await this.keepPlan(runId, data, age);
    const question = caching && mayServeAgain(data) ? await this.keepAnswer(runId, data, age) : null;
    // Only the template decides on learning: a run that fills no cache can still teach facts.
    const facts = factsOf(runId, data);
    if (!this.sources || (question === null && facts.length === 0)) return;
    const { embedder } = this.sources;
    // A ban refuses the mark: nothing from this run may be found any longer, not even what an attempt stored that was cut off.
    if (!(await this.state.caches.write({ ...this.markOf(caller.tenant, runId), value: 1, ttlMs: keptMs.semantic, tags: [runTag(runId)] })))
      return this.removeVectors(caller.tenant, runId);
    const texts = [...(question === null ? [] : [question]), ...facts.map(({ text }) => text)];
    const vectors = await embedder.embed(texts, { signal });
    const ofFacts = vectors.slice(texts.length - facts.length);
    if (question !== null)
      await this.put(caller.tenant, answersPurpose, [
        { id: runId, vector: vectors[0]!, text: question, metadata: { scope: caching!.scope!, day: dayOf(completedAt) } },
      ]);
    await this.put(
      caller.tenant,
      factsPurpose,
      facts.map((fact, index) => ({ ...fact, vector: ofFacts[index]! })),
    );
    // A bad rating in the meantime has removed the mark, and the vectors that were stored before it.
    const { tenant, key } = this.markOf(caller.tenant, runId);
    if ((await this.state.caches.read(tenant, key)) === null) await this.removeVectors(caller.tenant, runId);
    await this.sweep(caller.tenant, dayOf(completedAt));
  }

  /** From now on nothing from the run is served, and pending writes to the caches are refused. */
  async takeAway(tenant: string, runId: string): Promise<void> {
    await this.state.caches.removeTagged(tenant, runTag(runId), keptMs.semantic);
    await this.removeVectors(tenant, runId);
  }

  /** Keeps the first plan of a run that did not fail, even if its answer may not be served again. */
  private async keepPlan(runId: string, { caching, caller, plan }: RunCompleted['data'], age: number): Promise<void> {
    const ttlMs = keptMs.plan - age;
    if (!caching?.plan || !plan || ttlMs <= 0) return;
    await this.write({ tenant: caller.tenant, key: caching.plan, value: plan, ttlMs, tags: [runTag(runId), layerTag('plan')] });
  }

  /**
   * Returns the question to index the answer by; null if it must not be found by meaning. An answer whose run may have read documents that
   * have changed since is not kept.
   */
  private async keepAnswer(runId: string, data: RunCompleted['data'], age: number): Promise<string | null> {
    const { caching, caller, startedAt } = data;
    const isOld = (): Promise<boolean> => documentsChangedSince(this.state.caches, caller.tenant, startedAt);
    if (await isOld()) return null;
    const question = await this.writeAnswer(runId, data, age);
    // A change between the look and the write has removed only what was kept before it.
    if (!(await isOld())) return question;
    for (const key of [caching!.exact, semanticKey(runId)]) if (key !== null) await this.state.caches.remove(caller.tenant, key);
    return null;
  }

  private async writeAnswer(runId: string, data: RunCompleted['data'], age: number): Promise<string | null> {
    const { caching, caller, question, answer, sources, completedAt } = data;
    const { tenant } = caller;
    const value: KeptAnswer = { runId, question, answer: answer!, sources, storedAt: completedAt };
    const tags = [runTag(runId), documentsTag];
    const exactMs = keptMs.exact - age;
    if (caching!.exact !== null && exactMs > 0)
      await this.write({ tenant, key: caching!.exact, value, ttlMs: exactMs, tags: [...tags, layerTag('exact')] });
    const semanticMs = servedAgainMs(question, keptMs.semantic) - age;
    if (!this.sources || caching!.scope === null || semanticMs <= 0 || question.length > longestComparable) return null;
    const isKept = await this.write({ tenant, key: semanticKey(runId), value, ttlMs: semanticMs, tags: [...tags, layerTag('semantic')] });
    return isKept ? question : null;
  }

  /** Returns false if a ban refuses the write or the answer is too large. */
  private async write(entry: CacheWrite): Promise<boolean> {
    try {
      return await this.state.caches.write(entry);
    } catch (error) {
      if (error instanceof Failure && error.code === 'CACHE_VALUE_TOO_LARGE') return false;
      throw error;
    }
  }

  private async put(tenant: string, purpose: string, records: readonly VectorRecord[]): Promise<void> {
    if (records.length === 0) return;
    const { vectors, embedder } = this.sources!;
    const scope = { tenant, collection: collectionOf(purpose, embedder) };
    await vectors.create(scope, records[0]!.vector.length);
    await vectors.upsert(scope, records);
  }

  private async removeVectors(tenant: string, runId: string): Promise<void> {
    if (this.sources) await forgetErasedRun(this.sources.vectors, tenant, runId);
  }

  /** Vectors do not expire by themselves: removes those of expired answers once a day. */
  private async sweep(tenant: string, today: string): Promise<void> {
    if (this.swept.get(tenant) === today) return;
    const { vectors, embedder } = this.sources!;
    const scope = { tenant, collection: collectionOf(answersPurpose, embedder) };
    const oldest = Date.parse(today) - keptMs.semantic - dayMs;
    if ((await vectors.count(scope)) > 0)
      for (let day = 0; day < sweptDays; day += 1) await vectors.delete(scope, { where: { day: dayOf(oldest - day * dayMs) } });
    this.swept.set(tenant, today);
  }

  private markOf(tenant: string, runId: string): { readonly tenant: string; readonly key: string } {
    return { tenant, key: `learned/${runId}` };
  }
}
