import { bounded } from './quoting.js';
import { termsOf } from '../research/passages.js';

/** Longest part of a text that is shown or left out as a whole, in characters. */
const longestPart = 300;
const mostParts = 20_000;
const deepest = 12;
/** Shares of an excerpt: its beginning, its end, and single values of the outermost objects, such as a cursor or a total. */
const shares = { head: 0.3, tail: 0.1, outer: 0.2 } as const;

/** A sentence in brackets on the last line, such as that a result was cut. */
const noteAtEnd = /\n\[[A-Z][^[\]{}"\n]{1,200}\]$/;
/** Ends every excerpt. */
const mark = (length: number): string => `[Cut: ${length} characters, only some parts are shown.]`;
const marked = /\[Cut: \d{1,12} characters, only some parts are shown\.\]$/;
/** Whether a text is an excerpt, and not the whole. */
export const isExcerpt = (text: string): boolean => marked.test(text.trimEnd());

/**
 * The result of a tool in at most about `length` characters: its beginning, its end, and the parts that have the rarest words of `about`,
 * in order. A value in JSON becomes lines such as `orders[17]: {…}` with the path that leads to it, so that what stands behind a long list
 * is not lost. A shorter text stays as it is.
 */
export function excerptOf(text: string, length: number, about: string): string {
  if (text.length <= length) return text;
  const whole = marked.exec(text.trimEnd());
  const parts = partsOf(whole ? text.slice(0, whole.index) : text);
  const end = whole ? whole[0] : mark(text.length);
  const left = { characters: length - end.length - 1 };
  const shown = chosen(parts, about, left);
  const lines: string[] = [];
  let missing = 0;
  parts.forEach((part, index) => {
    if (!shown.has(index)) return void (missing += 1);
    if (missing > 0) lines.push('…');
    missing = 0;
    lines.push(part);
  });
  if (missing > 0) lines.push('…');
  return [...lines, end].join('\n');
}

function chosen(parts: readonly string[], about: string, left: { characters: number }): ReadonlySet<number> {
  const all = left.characters;
  const shown = new Set<number>();
  /** Adds a part with the gap before it if it fits into the rest and into a share of the whole. */
  const add = (index: number, within: { characters: number }): boolean => {
    if (shown.has(index)) return true;
    const cost = parts[index]!.length + 3;
    if (cost > left.characters || cost > within.characters) return false;
    left.characters -= cost;
    within.characters -= cost;
    shown.add(index);
    return true;
  };
  const share = (of: number): { characters: number } => ({ characters: Math.round(all * of) });
  const [head, tail, outer] = [share(shares.head), share(shares.tail), share(shares.outer)];
  for (let index = 0; index < parts.length && add(index, head); index += 1);
  for (let index = parts.length - 1; index >= 0 && add(index, tail); index -= 1);
  parts.forEach((part, index) => isOuter(part) && add(index, outer));
  for (const index of matching(parts, about)) add(index, left);
  for (let index = 0; index < parts.length && (shown.has(index) || add(index, left)); index += 1);
  return shown;
}

/** A single value that is in no list. */
const isOuter = (part: string): boolean => /^[\w.-]{1,80}: (?![[{])/.test(part);

/** Parts with words of a question, those with the rarest words first. */
function matching(parts: readonly string[], about: string): readonly number[] {
  const wanted = new Set(termsOf(about));
  const found = parts.map((part) => [...new Set(termsOf(part))].filter((term) => wanted.has(term)));
  const holders = new Map<string, number>();
  for (const terms of found) for (const term of terms) holders.set(term, (holders.get(term) ?? 0) + 1);
  const score = (index: number): number => found[index]!.reduce((sum, term) => sum + Math.log(1 + parts.length / holders.get(term)!), 0);
  return parts
    .map((_, index) => ({ index, score: score(index) }))
    .filter((part) => part.score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ index }) => index);
}

function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  const note = noteAtEnd.exec(text)?.[0] ?? '';
  const value = jsonIn(text.slice(0, text.length - note.length));
  if (value === undefined) for (const line of text.split('\n')) parts.push(...divided(line.trimEnd()));
  else {
    walk(value, '', 0, parts);
    // As the last part it is shown.
    parts.push(note.trim());
  }
  return parts.filter((part) => part.trim() !== '').slice(0, mostParts);
}

/** Lines with the path of each value that is short enough. */
function walk(value: unknown, path: string, depth: number, parts: string[]): void {
  if (parts.length >= mostParts) return;
  const json = JSON.stringify(value);
  const isBranch = typeof value === 'object' && value !== null;
  if (json.length <= longestPart || !isBranch || depth >= deepest) {
    parts.push(`${path === '' ? '' : `${path}: `}${bounded(json, longestPart)}`);
    return;
  }
  for (const [name, member] of Object.entries(value)) walk(member, pathOf(path, name, Array.isArray(value)), depth + 1, parts);
}

const pathOf = (path: string, name: string, isIndex: boolean): string =>
  isIndex ? `${path}[${name}]` : /^[\w-]+$/.test(name) ? [path, name].filter(Boolean).join('.') : `${path}[${JSON.stringify(name)}]`;

/** A long line in pieces that end where an entry, a sentence or a word does. */
function divided(line: string): readonly string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length > longestPart) {
    const window = rest.slice(0, longestPart);
    const at = ['}, ', '},', '], ', '. ', '; ', ', ', ' '].map((end) => window.lastIndexOf(end) + (window.includes(end) ? end.length : 0));
    const isSplit = /[\uD800-\uDBFF]$/.test(window);
    const end = at.find((place) => place > longestPart / 3) ?? longestPart - (isSplit ? 1 : 0);
    pieces.push(rest.slice(0, end).trim());
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}

function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // It only begins like JSON.
    return undefined;
  }
}
