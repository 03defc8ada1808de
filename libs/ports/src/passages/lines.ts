import { characterBorder } from './characters.js';

export interface Line {
  readonly text: string;
  /** A line break; empty for a part of a very long line that goes on, and at the end of the text. */
  readonly end: '\n' | '';
}

/** A longer line is given in parts, so that no step of reading takes long. */
const longestLine = 10_000;

/** Lines of a text, one at a time. Every kind of line break is read; a byte order mark, and blank lines after a blank one, are left out. */
export function* linesOf(text: string): Generator<Line> {
  const lineBreak = /\r\n?|\n/g;
  const blankLines = /(?:[ \t]*(?:\r\n?|\n))*/y;
  for (let start = text.startsWith('\ufeff') ? 1 : 0; start < text.length;) {
    lineBreak.lastIndex = start;
    const found = lineBreak.exec(text);
    const end = found?.index ?? text.length;
    while (end - start > longestLine) {
      const window = text.slice(start, start + longestLine);
      const space = Math.max(window.lastIndexOf(' '), window.lastIndexOf('\t')) + 1;
      const to = space > 0 ? start + space : characterBorder(text, start, start + longestLine);
      yield { text: readable(text.slice(start, to)), end: '' };
      start = to;
    }
    yield { text: readable(text.slice(start, end)), end: found ? '\n' : '' };
    const isBlank = end === start;
    start = end + (found?.[0].length ?? 0);
    if (!isBlank) continue;
    blankLines.lastIndex = start;
    start += blankLines.exec(text)![0].length;
  }
}

const readable = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', ' ') : text);

/** Items with those that follow them. */
export class Ahead<T> {
  private readonly source: Iterator<T>;
  private readonly read: T[] = [];

  constructor(items: Iterable<T>) {
    this.source = items[Symbol.iterator]();
  }

  /** Takes the next item; undefined at the end. */
  take(): T | undefined {
    return this.read.shift() ?? this.pulled();
  }

  /** The item that is `distance` away, 0 for the one that `take` returns next. */
  peek(distance = 0): T | undefined {
    while (this.read.length <= distance) {
      const next = this.pulled();
      if (next === undefined) return undefined;
      this.read.push(next);
    }
    return this.read[distance];
  }

  private pulled(): T | undefined {
    const { done, value } = this.source.next() as IteratorResult<T, undefined>;
    return done ? undefined : value;
  }
}
