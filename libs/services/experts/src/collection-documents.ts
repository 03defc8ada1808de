import { documentsCollection, type Embedder, type VectorRecord, type Vectors } from '@conclave/ports';
import type { TaskInput } from '@conclave/contracts';
import * as z from 'zod';
import { searchCollections } from './collection-search.js';
import { withoutPath } from './passage-text.js';

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

/** Passages examined per wanted document, so that a document with many good passages hides none of the others. */
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

export const DocumentExcerpt = z.object({
  title: z.string(),
  text: z.string().describe('empty if there is no such document'),
  whole: z.boolean(),
});
export type DocumentExcerpt = z.infer<typeof DocumentExcerpt>;

/** Chunks fetched at once, and the most chunks of one reading: a section, however short, is a separate chunk. */
const chunksPerFetch = 32;
const mostChunks = 320;

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
): Promise<DocumentExcerpt> {
  const scope = { tenant, collection: documentsCollection(collection, embedder) };
  /** Chunks in order until their text is long enough or the document ends. */
  const from = async (
    first: number,
  ): Promise<{ readonly chunks: readonly VectorRecord[]; readonly text: string; readonly ends: boolean }> => {
    const chunks: VectorRecord[] = [];
    for (;;) {
      const ids = Array.from({ length: chunksPerFetch }, (_, n) => `${document}#${first + chunks.length + n}`);
      const found = await vectors.get(scope, ids);
      chunks.push(...found);
      const text = joined(chunks, first > 0);
      const ends = found.length < ids.length;
      if (ends || text.length > maxCharacters || chunks.length >= mostChunks) return { chunks, text, ends };
    }
  };
  const beginning = await from(0);
  const title = String(beginning.chunks[0]?.metadata['title'] ?? document);
  if (beginning.ends && beginning.text.length <= maxCharacters) return { title, text: beginning.text, whole: true };
  const { chunks, text } = beginning;
  const isInside = passage < chunks.length && joined(chunks.slice(0, passage + 1), false).length <= maxCharacters;
  const part = isInside ? text : (await from(Math.max(0, passage - 1))).text;
  return { title, text: part.slice(0, maxCharacters), whole: false };
}

/** Most characters that a chunk may repeat from the one before. */
const longestOverlap = 400;

/**
 * The text of consecutive chunks. Leaves out the headings before each stored chunk, except those of a first chunk in the middle of a
 * document, and the part that a chunk repeats from the one before.
 */
function joined(records: readonly VectorRecord[], isMiddle: boolean): string {
  let text = '';
  let above: unknown = null;
  for (const record of records) {
    const bare = text === '' && isMiddle ? record.text : withoutPath(record.text, String(record.metadata['heading'] ?? ''));
    const heading = record.metadata['heading'];
    const overlap = heading === above ? overlapOf(text, bare) : 0;
    const between = text === '' || overlap > 0 ? '' : heading === above ? '\n' : '\n\n';
    text += `${between}${bare.slice(overlap)}`;
    above = heading;
  }
  return text;
}

/** Length of the part that the next text repeats from the end of the text. */
function overlapOf(text: string, next: string): number {
  for (let length = Math.min(longestOverlap, next.length, text.length); length > 0; length -= 1)
    if (text.endsWith(next.slice(0, length))) return length;
  return 0;
}
