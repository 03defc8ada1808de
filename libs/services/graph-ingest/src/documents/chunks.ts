import { sectionsOf, type TextSpan } from './sections.js';

/** A part of a document that is embedded and retrieved as a unit. */
export interface Chunk {
  /** `<document id>#<n>`, n from 0: the same document always has the same ids. */
  readonly id: string;
  /** Headings above it, outermost first. */
  readonly headings: readonly string[];
  /** Text as in the document, without surrounding white space. */
  readonly text: string;
  /** Start in the document, in UTF-16 units. */
  readonly offset: number;
}

export interface ChunkOptions {
  /** Most characters of a chunk; at least 40, default 600, as in the passages of a folder. */
  readonly size?: number;
  /** Most characters that a chunk repeats from the previous one, in whole sentences; at most a fifth of `size`, default 90. */
  readonly overlap?: number;
}

const smallestSize = 40;
/**
 * A finding becomes part of the next search's query, and full text search reads only 48 words of a query. A longer chunk would fill them
 * with its beginning, whichever part of it was found.
 */
const defaultSize = 600;
const defaultOverlap = 90;

/**
 * Chunks of Markdown or plain text. Cuts at headings first, then between paragraphs, lines and sentences, then between words, inside
 * a word only if it is too long by itself, and never within a character. Every non-blank character is in at least one chunk.
 */
export function chunksOf(documentId: string, text: string, options: ChunkOptions = {}): readonly Chunk[] {
  const size = Math.max(smallestSize, Math.floor(options.size ?? defaultSize));
  const overlap = Math.max(0, Math.min(Math.floor(options.overlap ?? defaultOverlap), Math.floor(size / 5)));
  const chunks: Chunk[] = [];
  for (const { headings, paragraphs } of sectionsOf(text)) {
    const pieces = paragraphs.flatMap((paragraph) => piecesOf(text, paragraph, size - overlap));
    for (const span of packed(pieces, size, overlap)) {
      const { start, end } = trimmed(text, span);
      if (start < end) chunks.push({ id: `${documentId}#${chunks.length}`, headings, text: text.slice(start, end), offset: start });
    }
  }
  return chunks;
}

/** Text to embed for a chunk: its own, preceded by the headings above it that it does not contain. */
export function textWithHeadings({ headings, text }: Pick<Chunk, 'headings' | 'text'>): string {
  const above = headings.filter((heading) => !text.includes(heading));
  return above.length > 0 ? `${above.join(' / ')}\n${text}` : text;
}

/** End of a sentence or a line. */
const sentenceEnd = /[.!?…]["'”’»)\]]*\s+|[。！？]["'”’»)\]]*\s*|\n+/g;
const wordEnd = /\s+/g;

/** Spans of at most `limit` characters that cover the whole one. */
function piecesOf(text: string, whole: TextSpan, limit: number): readonly TextSpan[] {
  if (whole.end - whole.start <= limit) return [whole];
  return divided(text, whole, sentenceEnd).flatMap((sentence) =>
    sentence.end - sentence.start <= limit
      ? [sentence]
      : packed(
          divided(text, sentence, wordEnd).flatMap((word) => slicesOf(text, word, limit)),
          limit,
          0,
        ),
  );
}

function divided(text: string, { start, end }: TextSpan, border: RegExp): readonly TextSpan[] {
  const parts: TextSpan[] = [];
  let from = start;
  for (const found of text.slice(start, end).matchAll(border)) {
    const to = start + found.index + found[0].length;
    parts.push({ start: from, end: to });
    from = to;
  }
  return from < end ? [...parts, { start: from, end }] : parts;
}

function slicesOf(text: string, { start, end }: TextSpan, limit: number): readonly TextSpan[] {
  const slices: TextSpan[] = [];
  let from = start;
  while (end - from > limit) {
    const to = characterBorder(text, from, from + limit);
    slices.push({ start: from, end: to });
    from = to;
  }
  return [...slices, { start: from, end }];
}

/** Code units that belong to the previous character: marks, joiners, low surrogates. */
const continues = /\p{M}|\u200d|[\udc00-\udfff]/u;
/** Longer runs of marks occur in no script; they are cut between code points. */
const longestCharacter = 32;

/** The last position, at most `to`, that splits no character. */
function characterBorder(text: string, from: number, to: number): number {
  const least = Math.max(from + 1, to - longestCharacter);
  for (let at = to; at > least; at -= 1) if (!continues.test(text[at]!) && text[at - 1] !== '\u200d') return at;
  return /[\udc00-\udfff]/.test(text[to]!) && /[\ud800-\udbff]/.test(text[to - 1]!) ? to - 1 : to;
}

/** Joins neighbouring spans up to `size`; each result begins with whole spans of the previous one, at most `overlap` characters. */
function packed(pieces: readonly TextSpan[], size: number, overlap: number): readonly TextSpan[] {
  const joined: TextSpan[] = [];
  let first = 0;
  for (let next = 0; next <= pieces.length; next += 1) {
    const piece = pieces[next];
    if (next === first || (piece && piece.end - pieces[first]!.start <= size)) continue;
    const end = pieces[next - 1]!.end;
    joined.push({ start: pieces[first]!.start, end });
    if (!piece) break;
    first = next;
    while (first > 0 && end - pieces[first - 1]!.start <= overlap && piece.end - pieces[first - 1]!.start <= size) first -= 1;
  }
  return joined;
}

function trimmed(text: string, { start, end }: TextSpan): TextSpan {
  const inside = text.slice(start, end);
  const from = start + inside.length - inside.trimStart().length;
  return { start: from, end: Math.max(from, start + inside.trimEnd().length) };
}
