import type { TextBlock } from './blocks.js';
import { slicesOf } from './characters.js';
import { isBorder } from './table-head.js';

/** A part of a text that a passage contains whole. */
export interface Piece {
  /** With the white space that follows it. */
  readonly text: string;
  /** Put before the text if a passage begins with this piece: the head of its table. */
  readonly head: string;
  /** Announces what follows, so that no passage ends with it: a sentence before a list, the head of a table. */
  readonly announces: boolean;
  /** Whether the next passage may repeat it. */
  readonly isSentence: boolean;
  /**
   * Whether a passage should begin here, if the one before is not very short: with a paragraph of sentences that does not fit into one
   * passage, or with a definition in source code.
   */
  readonly begins: boolean;
}

/** End of a sentence. */
const sentenceEnd = /[.!?…]["'”’»)\]]*\s+|[。！？]["'”’»)\]]*\s*/g;
const lineEnd = /\n+/g;
const wordEnd = /\s+/g;
const beforeItem = /(?<=\n)(?=[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t])/g;
const hasItem = /^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]/m;
const blankLine = /\n(?:[ \t]*\n)+/g;
/** At the end of its line: `Note: ` inside one announces nothing. */
const announcing = /[:：]\n+$/;

/**
 * Pieces of at most `limit` characters, with the head of a table in front of its rows, that contain all of a block except for lines between
 * rows. `announcement`: how long the sentence before is that announces the block; a list is divided if both do not fit into one passage.
 */
export function piecesOf(block: TextBlock, limit: number, announcement: number): readonly Piece[] {
  if (block.kind === 'table') return rowPieces(block, limit);
  const lines = block.lines.map(({ text, end }) => (end === '' ? text : `${text.trimEnd()}\n`)).join('');
  const text = block.isLast ? `${lines.trimEnd()}\n\n` : lines;
  const isProse = block.kind === 'prose';
  const room = !isProse || announcement > limit / 2 ? limit : limit - announcement;
  const parts = cut(text, room, isProse ? [beforeItem, sentenceEnd, lineEnd] : [blankLine, lineEnd]);
  return parts.map((part, at) => ({
    text: part.text,
    isSentence: part.isSentence && isProse,
    head: '',
    announces: isProse && announcing.test(part.text),
    begins: at === 0 && (isProse ? parts.length > 1 && !hasItem.test(text) : /^[\p{L}@_/#]/u.test(text)),
  }));
}

function rowPieces({ lines, head: found, isFirst, isLast }: TextBlock, limit: number): readonly Piece[] {
  // A longer head would leave too little room for rows.
  const head = found.length > limit / 2 ? '' : found;
  const rows = lines.map(({ text, end }) => text + end);
  if (isLast) rows.push(`${rows.pop()!.trimEnd()}\n\n`);
  const headAt = isFirst && head !== '' ? rows.findIndex((row) => row.trim() === head) : -1;
  const headEnd = headAt + (headAt >= 0 && isBorder(rows[headAt + 1] ?? '') && rows[headAt + 1]!.length <= limit / 2 ? 1 : 0);
  return rows.flatMap((row, at): readonly Piece[] => {
    if (at <= headEnd) return [{ text: row, head: '', announces: true, isSentence: false, begins: false }];
    if (isBorder(row)) return [];
    const room = head === '' ? limit : limit - head.length - 1;
    return cut(row, room, [sentenceEnd]).map(({ text }) => ({ text, head, announces: false, isSentence: false, begins: false }));
  });
}

type Cut = Pick<Piece, 'text' | 'isSentence'>;

/** Parts of at most `limit` characters: divided by the first border, and those that are too long by the next one. Last between words, then anywhere. */
function cut(text: string, limit: number, [border, ...others]: readonly RegExp[], isSentence = true): readonly Cut[] {
  if (text.trimEnd().length <= limit) return [{ text, isSentence }];
  if (border === undefined)
    return divided(text, wordEnd).flatMap((word) => slicesOf(word, limit).map((part) => ({ text: part, isSentence: false })));
  return divided(text, border).flatMap((part) => cut(part, limit, others, isSentence));
}

function divided(text: string, border: RegExp): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (const found of text.matchAll(border)) {
    const to = found.index + found[0].length;
    if (to > from) parts.push(text.slice(from, to));
    from = to;
  }
  return from < text.length ? [...parts, text.slice(from)] : parts;
}
