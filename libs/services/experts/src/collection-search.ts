import * as z from 'zod';
import type { TaskInput } from '@conclave/contracts';
import { documentsCollection, namedFirst, type Embedder, type Reranking, type VectorHit, type Vectors } from '@conclave/ports';
import { fusedFurther, hitsPerQuery, queriesOf } from './further-search.js';
import { fusedByRank, spreadOver, textWeight } from './fusion.js';
import { passageText } from './passage-text.js';
import { reranked } from './reranked.js';

export const Chunks = z.object({
  chunks: z.array(
    z.object({
      collection: z.string(),
      id: z.string().default(''),
      title: z.string(),
      document: z.string(),
      /** As a prompt shows it, see `passageText`. */
      text: z.string(),
      /** Headings above it, outermost first. */
      section: z.string().default(''),
      /** Null if only full text found it. */
      distance: z.number().nullable(),
    }),
  ),
  unknownKeys: z.array(z.string()),
  missing: z.array(z.string()),
  /** Notes on how the chunks were found. */
  notes: z.array(z.string()).default([]),
});

export type Chunks = z.infer<typeof Chunks>;

/** Largest cosine distance at which a passage is still related to the query. */
export const farthest = 0.85;

type Found = Chunks['chunks'][number];

/** Hits taken from each of the two searches per hit returned, so that a hit ranked lower by both can rise. */
const candidatesPerHit = 6;

/** Passages of the collections for a query: full text and vectors, fused by rank. Errors of the store and the embedder pass through. */
export async function searchCollections(
  vectors: Vectors,
  embedder: Embedder,
  tenant: string,
  { query, collections, filters, limit, documents, further }: Omit<Extract<TaskInput, { kind: 'collections' }>, 'kind'>,
  signal: AbortSignal,
): Promise<Chunks> {
  const queries = queriesOf(query, further);
  const [embedded, listed] = [await embedder.embed(queries, { signal }), await vectors.list(tenant)];
  const known = new Set(listed.map(({ name }) => name));
  const unknown = new Set<string>();
  const there = collections.filter((name) => known.has(documentsCollection(name, embedder)));
  const inside = documents ? { anyOf: { key: 'document', texts: documents } } : {};
  // Ranks as many hits as a search of a folder does.
  const kept = further ? limit * hitsPerQuery : limit;
  const ranked = { where: filters, signal, ...inside };
  const searchOne = async (
    words: string,
    vector: Float32Array,
  ): Promise<{ readonly said: readonly Found[]; readonly near: readonly Found[] }> => {
    const near: Found[] = [];
    const said: (Found & { readonly score: number })[] = [];
    for (const collection of there) {
      const scope = { tenant, collection: documentsCollection(collection, embedder) };
      const [byMeaning, byWords] = await Promise.all([
        vectors.query(scope, { vector, limit: limit * candidatesPerHit, ...ranked }),
        vectors.match(scope, { words, limit: kept * candidatesPerHit, ...ranked }),
      ]);
      byMeaning.unknownKeys.forEach((key) => unknown.add(key));
      for (const hit of byMeaning.hits) if (hit.distance <= farthest) near.push(foundOf(collection, hit, hit.distance));
      for (const hit of byWords.hits) said.push({ ...foundOf(collection, hit, null), score: hit.score });
    }
    near.sort((a, b) => a.distance! - b.distance!);
    said.sort((a, b) => b.score - a.score);
    const distances = new Map(near.map((hit) => [keyOf(hit), hit.distance]));
    const byText = said.map(({ score: _score, ...found }) => ({ ...found, distance: distances.get(keyOf(found)) ?? null }));
    const named = namedFirst(byText, words, ({ title }) => title);
    return { said: further ? named.slice(0, kept * there.length) : named, near };
  };
  const lists = await Promise.all(queries.map((words, at) => searchOne(words, embedded[at]!)));
  // Each search is first fused over its queries. The queries share most of their words: otherwise a passage that is only near all of them
  // would count once for each, and outweigh a passage that full text finds for a single finding.
  const fused = fusedByRank(
    [
      {
        hits: fusedFurther(
          lists.map(({ said }) => said),
          further,
          (hit) => hit,
          keyOf,
        ),
        weight: textWeight[embedder.reads ?? 'sentences'],
      },
      {
        hits: fusedFurther(
          lists.map(({ near }) => near),
          further,
          (hit) => hit,
          keyOf,
        ),
        weight: 1,
      },
    ],
    keyOf,
  );
  const chunks = spreadOver(fused, ({ collection, document }) => `${collection} ${document}`);
  return {
    chunks: chunks.slice(0, limit * Math.max(1, there.length)),
    unknownKeys: [...unknown],
    missing: collections.filter((name) => !there.includes(name)),
    notes: [],
  };
}

/** As `searchCollections`, but with the chunks in the order of a reranker, if there is one. */
export async function searchReranked(
  reranking: Reranking | null,
  vectors: Vectors,
  embedder: Embedder,
  tenant: string,
  input: Omit<Extract<TaskInput, { kind: 'collections' }>, 'kind'>,
  signal: AbortSignal,
): Promise<Chunks> {
  const limit = Math.max(input.limit, reranking?.candidates ?? 0);
  const found = await searchCollections(vectors, embedder, tenant, { ...input, limit }, signal);
  const { hits, note } = await reranked(reranking, input.query, found.chunks, ({ title, text }) => `${title}\n${text}`, signal);
  const searched = Math.max(1, input.collections.length - found.missing.length);
  return { ...found, chunks: hits.slice(0, input.limit * searched), notes: note === null ? [] : [note] };
}

const keyOf = ({ collection, id }: Found): string => `${collection} ${id}`;

const foundOf = (
  collection: string,
  { id, text, metadata }: Pick<VectorHit, 'id' | 'text' | 'metadata'>,
  distance: number | null,
): Found => {
  const title = String(metadata['title'] ?? metadata['document'] ?? collection);
  const section = String(metadata['heading'] ?? '');
  return {
    collection,
    id,
    text: passageText({ text, title, section }),
    distance,
    title,
    document: String(metadata['document'] ?? ''),
    section,
  };
};
