import { blocksOf, type TextBlock } from './blocks.js';
import { linesOf } from './lines.js';
import { withMarkdownHeadings } from './markup.js';
import { PassageWriter } from './passage-writer.js';
import { piecesOf } from './pieces.js';
import { formOf } from './text-kinds.js';

/** Neighbouring paragraphs of a section, or a part of a longer one: what is embedded, found and shown as a unit. */
export interface TextPassage {
  /** Headings above it, outermost first. */
  readonly headings: readonly string[];
  /** Without its headings. The head of a table is repeated before rows that do not follow it. */
  readonly text: string;
}

export interface PassageOptions {
  /** Name of the file: its ending decides how the text is read. It is the heading of source code, so it may be a path. */
  readonly name?: string;
  /** Media type of the file, without parameters. */
  readonly mime?: string;
  /** Most characters of a passage; at least 40, default `passageLength`. */
  readonly size?: number;
  /** Most characters that a passage repeats from the previous one, in whole sentences; at most a fifth of `size`, default 90. */
  readonly overlap?: number;
}

/**
 * A finding becomes part of the next search's query, and full text search reads only 48 words of a query. A longer passage would fill them
 * with its beginning, whichever part of it was found.
 */
export const passageLength = 600;
const usualOverlap = 90;
const smallestSize = 40;
/** A heading further on is no title of the whole text. */
const titleWithin = 50_000;

/**
 * Passages of Markdown, of another markup or of plain text, one at a time: each step takes a few milliseconds, however long the text is. Cuts
 * at headings first, then between paragraphs, items, rows and sentences, then between words, inside a word only if it is too long by itself,
 * and never within a character. Every word is in a passage or in its headings.
 */
export function* passagesOf(
  text: string,
  { name = '', mime = '', size = passageLength, overlap = usualOverlap }: PassageOptions = {},
): Generator<TextPassage> {
  const most = Math.max(smallestSize, Math.floor(size));
  const writer = new PassageWriter(most, Math.max(0, Math.min(Math.floor(overlap), Math.floor(most / 5))));
  const form = formOf(name, mime);
  const path: (string | undefined)[] = form === 'code' ? [name] : [];
  /** Whether the last heading has a text of its own, or no words. */
  let isSaid = true;
  /** Whether what is being written are headings without a text, which are siblings of the last one. */
  let isBare = false;
  function* written(passage: string | null): Generator<TextPassage> {
    const above = isBare ? path.slice(0, -1) : path;
    if (passage !== null) yield { headings: above.filter((heading) => heading !== undefined), text: passage };
  }
  function* add(block: TextBlock): Generator<TextPassage> {
    for (const piece of piecesOf(block, most, writer.announcement)) yield* written(writer.add(piece));
  }
  for (const block of blocksOf(withMarkdownHeadings(linesOf(text), name), form)) {
    if ('heading' in block) {
      const { level, title } = block.heading;
      if (!isBare) yield* written(writer.end());
      isBare ||= !isSaid && level <= path.length;
      if (!isSaid && level <= path.length) yield* add(bareHeading(path.at(-1)!));
      if (level !== path.length) {
        yield* written(writer.end());
        isBare = false;
      }
      path.length = level;
      path[level - 1] = title || undefined;
      isSaid = title === '';
      continue;
    }
    if (isBare) yield* written(writer.end());
    isBare = false;
    isSaid = true;
    yield* add(block);
  }
  if (!isBare) yield* written(writer.end());
  isBare ||= !isSaid;
  if (!isSaid) yield* add(bareHeading(path.at(-1)!));
  yield* written(writer.end());
}

/** A heading without a text of its own as a paragraph. */
const bareHeading = (title: string): TextBlock => ({
  kind: 'prose',
  lines: [{ text: title, end: '\n' }],
  isLast: false,
  head: '',
  isFirst: true,
});

/** The first heading near the beginning of a text, as a reader sees it; empty if there is none that has words. */
export function firstHeadingOf(text: string, name = ''): string {
  for (const block of blocksOf(withMarkdownHeadings(linesOf(text.slice(0, titleWithin)), name), formOf(name))) {
    const title = 'heading' in block ? withoutMarks(block.heading.title) : '';
    if (title !== '') return title;
  }
  return '';
}

const target = String.raw`(?:\([^()\s]*\)|\[[^[\]]*\])`;
const picture = new RegExp(String.raw`!\[([^[\]]*)\]${target}`, 'g');
const link = new RegExp(String.raw`\[([^[\]]*)\]${target}`, 'g');
const formatting = /<\/?(?:a|b|br|center|code|div|em|font|i|img|kbd|p|picture|small|source|span|strong|sub|sup|u)(?:\s[^<>]*)?>|`+|\*\*/gi;

/** A heading as a page shows it, without badges and other pictures; what they stand for if it has nothing else. */
const withoutMarks = (heading: string): string =>
  ['', '$1']
    .map((alternative) => heading.replace(picture, alternative).replace(link, '$1').replace(formatting, '').replace(/\s+/g, ' ').trim())
    .find((title) => title !== '') ?? '';
