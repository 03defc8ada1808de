import { answersPurpose, factsPurpose, resultsPurpose } from '../embeddings/embedder.js';
import type { Vectors } from './vectors.js';

/**
 * Removes what later runs can find of a run: its answer, its facts and its results, from the collections of every embedder, because the
 * embedder may have changed since.
 */
export async function forgetRun(vectors: Vectors, tenant: string, runId: string): Promise<void> {
  for (const { name } of await vectors.list(tenant)) {
    const scope = { tenant, collection: name };
    if (name.startsWith(`${answersPurpose}@`)) await vectors.delete(scope, { ids: [runId] });
    if (name.startsWith(`${factsPurpose}@`) || name.startsWith(`${resultsPurpose}@`))
      await vectors.delete(scope, { where: { run: runId } });
  }
}

/** The same for a run that was erased before this was learned from it: its erasure can no longer remove what deleted records left in files. */
export async function forgetErasedRun(vectors: Vectors, tenant: string, runId: string): Promise<void> {
  await forgetRun(vectors, tenant, runId);
  await vectors.scrub?.();
}
