import { Ahead, type Line } from './lines.js';
import { endingOf } from './text-kinds.js';

/**
 * Writes the headings of reStructuredText, AsciiDoc and Org as Markdown does, by the ending of the file's name, so that passages know
 * their section. Everything else stays as it is.
 */
export function withMarkdownHeadings(lines: Iterable<Line>, name: string): Iterable<Line> {
  const ending = endingOf(name);
  if (ending === 'rst') return fromReStructuredText(lines);
  if (ending === 'adoc' || ending === 'asciidoc') return fromMarks(lines, /^={1,6}(?=[ \t]+\S)/);
  return ending === 'org' ? fromMarks(lines, /^\*{1,6}(?=[ \t]+\S)/) : lines;
}

function* fromMarks(lines: Iterable<Line>, marks: RegExp): Generator<Line> {
  for (const line of lines) yield { ...line, text: line.text.replace(marks, (found) => '#'.repeat(found.length)) };
}

/** A line of one punctuation character that underlines a title, and may also be above it (docutils, reStructuredText, "Sections"). */
const adornment = /^([!-/:-@[-`{-~])\1{2,}[ \t]*$/;
const longestAdornment = 1_000;
const markOf = ({ text }: Line): string | null => (text.length > longestAdornment ? null : (adornment.exec(text)?.[1] ?? null));

/** The character that underlines a title; null if the line is none. */
function underlineOf(line: Line | undefined, under: Line | undefined): string | null {
  if (!line || !under) return null;
  const isTitle =
    /^\s?\S/.test(line.text) &&
    !line.text.startsWith('.. ') &&
    markOf(line) === null &&
    under.text.trimEnd().length >= line.text.trim().length;
  return isTitle ? markOf(under) : null;
}

function* fromReStructuredText(source: Iterable<Line>): Generator<Line> {
  const lines = new Ahead(source);
  /** Adornments in the order of their first use: each is one level deeper. */
  const levels: string[] = [];
  for (let line = lines.take(); line; line = lines.take()) {
    const over = markOf(line);
    const isOverlined = over !== null && underlineOf(lines.peek(), lines.peek(1)) === over;
    if (isOverlined) line = lines.take()!;
    const mark = underlineOf(line, lines.peek());
    if (mark === null) {
      yield line;
      continue;
    }
    const style = `${isOverlined ? 'over' : ''}${mark}`;
    if (!levels.includes(style)) levels.push(style);
    lines.take();
    yield { text: `${'#'.repeat(Math.min(6, levels.indexOf(style) + 1))} ${line.text.trim()}`, end: '\n' };
  }
}
