import { setImmediate as nextTurn } from 'node:timers/promises';
import { type TextPassage, type PassageOptions, passagesOf } from '@conclave/ports/passages';

/** A passage of a document that is embedded and retrieved as a unit. */
export interface Chunk extends TextPassage {
  /** `<document id>#<n>`, n from 0: the same document always has the same ids. */
  readonly id: string;
}

/** Longest time of cutting, in milliseconds, before other work of the process gets its turn. */
const turnMs = 20;

/** The chunks of a document, at most one more than `most`. */
export async function chunksOf(documentId: string, text: string, options: PassageOptions = {}, most = Infinity): Promise<readonly Chunk[]> {
  const chunks: Chunk[] = [];
  let until = performance.now() + turnMs;
  for (const passage of passagesOf(text, options)) {
    chunks.push({ id: `${documentId}#${chunks.length}`, ...passage });
    if (chunks.length > most) break;
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + turnMs;
  }
  return chunks;
}

/** Text to embed for a chunk: its own, preceded by the headings above it. */
export const embeddedText = ({ headings, text }: TextPassage): string => below(headings.join(' / '), text);

/**
 * Text of a chunk that is stored and searched by words: its own, preceded by the heading right above it. The other headings are in its
 * metadata, which is searched too: in every text of a document they would make all of them look alike.
 */
export const storedText = ({ headings, text }: TextPassage): string => below(headings.at(-1) ?? '', text);

const below = (heading: string, text: string): string => (heading === '' ? text : `${heading}\n${text}`);
