import { isOutage, Failure, type TaskInput } from '@conclave/contracts';
import type { Embedder, Search, Vectors } from '@conclave/ports';
import type { Passage } from '@conclave/strategies';
import * as z from 'zod';
import { searchCollections } from './collection-search.js';

/** Sources of a sub-topic; null if not configured. */
export interface PassageSources {
  readonly vectors: Vectors | null;
  readonly embedder: Embedder | null;
  readonly search: Search | null;
}

/** Journal entry of a sub-topic's search: its passages, and the sources that failed. */
export const FoundPassages = z.object({
  passages: z.array(
    z.object({
      text: z.string(),
      kind: z.enum(['collection', 'web', 'corpus']),
      title: z.string(),
      url: z.string().nullable(),
      document: z.string().optional(),
    }),
  ),
  failed: z.array(z.string()),
});
export type FoundPassages = z.infer<typeof FoundPassages>;

export const passageOf = ({ text, ...source }: FoundPassages['passages'][number]): Passage => ({ text, source });

/**
 * Passages of all collections and of the search, concurrently. A failed source does not affect the others; if all fail, the first failure is
 * thrown, so that a failed sub-topic is not mistaken for an empty one.
 */
export async function passagesFor(
  { vectors, embedder, search }: PassageSources,
  tenant: string,
  { query, collections, filters, limit, search: wantsSearch }: Extract<TaskInput, { kind: 'subtopic' }>,
  signal: AbortSignal,
): Promise<FoundPassages> {
  const fromCollections = async (): Promise<FoundPassages['passages']> => {
    const { chunks } = await searchCollections(vectors!, embedder!, tenant, { query, collections, filters, limit }, signal);
    return chunks.map(({ text, title }) => ({ text, kind: 'collection', title, url: null }));
  };
  const fromSearch = async (): Promise<FoundPassages['passages']> => {
    const hits = await search!.query({ query, limit, signal });
    return hits.map(({ snippet, ...where }) => ({ text: snippet, kind: search!.kind, ...where }));
  };
  const sources = [
    ...(vectors && embedder && collections.length > 0 ? [{ name: collections.join(', '), find: fromCollections }] : []),
    ...(search && wantsSearch ? [{ name: search.description, find: fromSearch }] : []),
  ];
  if (sources.length === 0) throw new Failure('NOTHING_TO_SEARCH');
  const ended = await Promise.allSettled(sources.map(({ find }) => find()));
  if (signal.aborted) throw new Failure('CALL_CANCELLED');
  const errors = ended.flatMap((end, index) =>
    end.status === 'rejected' ? [{ name: sources[index]!.name, error: end.reason as unknown }] : [],
  );
  for (const { error } of errors) if (!(error instanceof Failure) && !isOutage(error)) throw error;
  if (errors.length === sources.length) throw errors[0]!.error;
  const passages = ended.flatMap((end) => (end.status === 'fulfilled' ? end.value : [])).filter(({ text }) => text.trim() !== '');
  return { passages, failed: errors.map(({ name }) => name) };
}
