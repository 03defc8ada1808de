import { documentsCollection, type Embedder, type VectorRecord, type Vectors } from '@conclave/ports';
import type { TaskInput } from '@conclave/contracts';
import * as z from 'zod';
import { searchCollections } from './collection-search.js';

type InputOf<K extends TaskInput['kind']> = Omit<Extract<TaskInput, { kind: K }>, 'kind'>;

export const FoundDocuments = z.object({
  documents: z.array(
    z.object({
      collection: z.string(),
      document: z.string(),
      title: z.string(),
      passage: z.int().nonnegative().describe('number of its best chunk'),
      text: z.string().describe('beginning of that chunk'),
    }),
  ),
  missing: z.array(z.string()).describe('collections that do not exist'),
});
export type FoundDocuments = z.infer<typeof FoundDocuments>;

/** Passages looked at per document wanted, so that a document with many good passages hides none of the others. */
const passagesPerDocument = 4;
/** Characters shown of a document's best passage. */
const shownOfPassage = 300;

/** Documents with the best passages for a query, best first. Errors of the store and the embedder pass through. */
export async function discoverDocuments(
  vectors: Vectors,
  embedder: Embedder,
  tenant: string,
  { query, collections, limit }: InputOf<'discover'>,
  signal: AbortSignal,
): Promise<FoundDocuments> {
  const search = { query, collections, filters: {}, limit: limit * passagesPerDocument };
  const { chunks, missing } = await searchCollections(vectors, embedder, tenant, search, signal);
  const documents = new Map<string, FoundDocuments['documents'][number]>();
  for (const { collection, document, id, title, text } of chunks) {
    const key = JSON.stringify([collection, document]);
    if (document === '' || documents.has(key)) continue;
    documents.set(key, { collection, document, title, passage: numberOf(id), text: text.slice(0, shownOfPassage) });
  }
  return { documents: [...documents.values()].slice(0, limit), missing };
}

export const ReadDocument = z.object({ title: z.string(), text: z.string().describe('empty if there is no such document'), whole: z.boolean() });
export type ReadDocument = z.infer<typeof ReadDocument>;

/** Chunks fetched at once; more than one reading of a document holds. */
const chunksPerFetch = 24;

/** The number in the id of a chunk, `<document>#<n>`. */
const numberOf = (id: string): number => Number(/#(\d+)$/.exec(id)?.[1] ?? 0);

/**
 * The text of a document of at most `maxCharacters`: from its beginning or, if the passage would not be in it, from shortly before the
 * passage. Errors of the store pass through.
 */
export async function readDocument(
  vectors: Vectors,
  embedder: Pick<Embedder, 'id'>,
  tenant: string,
  { collection, document, passage, maxCharacters }: InputOf<'document'>,
): Promise<ReadDocument> {
  const scope = { tenant, collection: documentsCollection(collection, embedder) };
  const chunksFrom = (first: number): Promise<readonly VectorRecord[]> =>
    vectors.get(
      scope,
      Array.from({ length: chunksPerFetch }, (_, n) => `${document}#${first + n}`),
    );
  const beginning = await chunksFrom(0);
  const title = String(beginning[0]?.metadata['title'] ?? document);
  const text = joined(beginning);
  if (text.length <= maxCharacters && beginning.length < chunksPerFetch) return { title, text, whole: true };
  const isInside = passage < beginning.length && joined(beginning.slice(0, passage + 1)).length <= maxCharacters;
  const from = isInside ? text : joined(await chunksFrom(Math.max(0, passage - 1)));
  return { title, text: from.slice(0, maxCharacters), whole: false };
}

/** Most characters that a chunk may repeat of the one before. */
const longestOverlap = 400;

/** The text of consecutive chunks; a heading stands once, and what a chunk repeats of the one before is left out. */
function joined(records: readonly VectorRecord[]): string {
  let text = '';
  let above: string | null = null;
  for (const { text: chunk, metadata } of records) {
    const heading = String(metadata['heading'] ?? '');
    if (heading !== above) text += `${text === '' ? '' : '\n\n'}${chunk}`;
    else {
      const bare = heading !== '' && chunk.startsWith(`${heading}\n`) ? chunk.slice(heading.length + 1) : chunk;
      const overlap = overlapOf(text, bare);
      text += `${overlap > 0 ? '' : '\n'}${bare.slice(overlap)}`;
    }
    above = heading;
  }
  return text;
}

/** Length of what the next text repeats of the end of the text. */
function overlapOf(text: string, next: string): number {
  for (let length = Math.min(longestOverlap, next.length, text.length); length > 0; length -= 1)
    if (text.endsWith(next.slice(0, length))) return length;
  return 0;
}
