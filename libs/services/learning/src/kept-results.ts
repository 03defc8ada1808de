import type { RunCompleted } from '@conclave/contracts';
import { collectionOf, forgetErasedRun, resultsPurpose, type Embedder, type StateStore, type Vectors } from '@conclave/ports';
import { keptMs, runTag } from '@conclave/strategies';

/** Stores the results of runs and of their steps for later runs to recall. Every write is idempotent by run and step. */
export class KeptResults {
  constructor(
    private readonly state: Pick<StateStore, 'caches'>,
    private readonly vectors: Vectors,
    private readonly embedder: Embedder,
  ) {}

  /** Errors of the stores and the embedder pass through; a repeat continues. */
  async keep({ runId, data }: RunCompleted, signal: AbortSignal): Promise<void> {
    const { remember, caller, question, completedAt } = data;
    if (!remember || remember.results.length === 0) return;
    const { tenant } = caller;
    // A bad rating or a deletion bans the run: nothing from it may be found any longer, not even what an attempt stored that was cut off.
    const mark = { tenant, key: `results/${runId}`, value: 1, ttlMs: keptMs.semantic, tags: [runTag(runId)] };
    if (!(await this.state.caches.write(mark))) return forgetErasedRun(this.vectors, tenant, runId);
    const texts = remember.results.map(({ text }) => text);
    const found = await this.embedder.embed(texts, { signal });
    const scope = { tenant, collection: collectionOf(resultsPurpose, this.embedder) };
    await this.vectors.create(scope, found[0]!.length);
    await this.vectors.upsert(
      scope,
      remember.results.map(({ id, text }, index) => ({
        id: `${runId}/${id}`,
        vector: found[index]!,
        text,
        metadata: { kind: remember.kind, run: runId, about: question.slice(0, 200), day: new Date(completedAt).toISOString().slice(0, 10) },
      })),
    );
    // The ban may have been set in the meantime.
    if ((await this.state.caches.read(tenant, mark.key)) === null) await forgetErasedRun(this.vectors, tenant, runId);
  }
}
