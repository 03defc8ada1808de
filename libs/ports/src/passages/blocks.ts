import { Ahead, type Line } from './lines.js';
import { headOf, headOfValues, isRow } from './table-head.js';
import type { TextForm } from './text-kinds.js';

export interface Heading {
  /** From 1. */
  readonly level: number;
  readonly title: string;
}

/** Lines that belong together: a paragraph, a list, a block of code, or rows of one table. */
export interface TextBlock {
  readonly kind: 'prose' | 'code' | 'table';
  readonly lines: readonly Line[];
  /** Whether a blank line follows. */
  readonly isLast: boolean;
  /** Head of the table; empty if it has none, or if the block is no table. */
  readonly head: string;
  /** Whether the block begins its table, and so contains the head. */
  readonly isFirst: boolean;
}

export type Block = { readonly heading: Heading } | TextBlock;

/** A longer block is given in parts, so that no step of reading takes long. */
const longestBlock = 10_000;
/** A longer line is a text, whatever its marks. */
const longestHeading = 200;
/** A quote that is never closed must not make one row of everything after it. */
const mostLinesOfRow = 50;

const fence = /^ {0,3}(`{3,}|~{3,})/;
const hashes = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const underline = /^ {0,3}(={3,}|-{3,})[ \t]*$/;
/** A line that an underline makes a heading begins like a sentence or a name, not like an item of a list or a row of a table. */
const underlined = /^ {0,3}[\p{L}\p{N}\p{Pi}"'`(¿¡]/u;

/** Headings and blocks of a text in order. */
export function* blocksOf(lines: Iterable<Line>, form: TextForm): Generator<Block> {
  if (form === 'prose') yield* proseBlocks(new Ahead(lines));
  else yield* form === 'rows' ? rowBlocks(lines) : codeBlocks(lines);
}

/** What is being read of a block. */
class Open {
  lines: Line[] = [];
  head = '';
  private length = 0;
  private isFirst = true;

  constructor(
    readonly kind: TextBlock['kind'],
    /** Ends a block of fenced code. */
    readonly closes: RegExp | null = null,
  ) {}

  add(line: Line): void {
    this.lines.push(line);
    this.length += line.text.length + 1;
  }

  /** Whether nothing of it was read yet. */
  get begins(): boolean {
    return this.isFirst && this.lines.length === 0;
  }

  get isLong(): boolean {
    return this.length > longestBlock;
  }

  /** What was read, of which more may follow. */
  part(isLast: boolean): TextBlock {
    const { kind, lines, head, isFirst } = this;
    [this.lines, this.length, this.isFirst] = [[], 0, false];
    return { kind, lines, isLast, head, isFirst };
  }
}

function* proseBlocks(lines: Ahead<Line>): Generator<Block> {
  let open = null as Open | null;
  for (let line = lines.take(); line; line = lines.take()) {
    const { text } = line;
    const next: string = lines.peek()?.text ?? '';
    const heading = open?.closes ? null : headingIn(text, next, open !== null);
    if (open?.closes) {
      open.add(line);
      if (open.closes.test(text)) {
        yield* endOf(open, next.trim() === '');
        open = null;
      }
    } else if (heading) {
      yield* endOf(open, false);
      open = null;
      if (!hashes.test(text)) lines.take();
      yield { heading };
    } else if (text.trim() === '') {
      yield* endOf(open, true);
      open = null;
    } else {
      const marker: string | undefined = fence.exec(text)?.[1];
      const kind: TextBlock['kind'] = isRow(text) && (open?.kind === 'table' || isRow(next)) ? 'table' : 'prose';
      if (marker || open?.kind !== kind) {
        yield* endOf(open, false);
        open = marker ? new Open('code', new RegExp(`^ {0,3}${marker[0]}{${marker.length},}[ \\t]*$`)) : new Open(kind);
        if (open.kind === 'table') open.head = headOf([text, next, lines.peek(1)?.text ?? '']);
      }
      open.add(line);
    }
    if (open?.isLong) yield open.part(false);
  }
  yield* endOf(open, true);
}

const endOf = (open: Open | null, isLast: boolean): readonly TextBlock[] => (open && open.lines.length > 0 ? [open.part(isLast)] : []);

/** The heading of Markdown that begins in a line: marked with `#`, or underlined with `=` or `-`. Null if none does. */
function headingIn(line: string, next: string, inParagraph: boolean): Heading | null {
  if (line.length > longestHeading) return null;
  const marked = hashes.exec(line);
  if (marked) return { level: marked[1]!.length, title: (marked[2] ?? '').trim() };
  const under = inParagraph || next.length > longestHeading || !underlined.test(line) ? null : underline.exec(next);
  return under && { level: under[1]!.startsWith('=') ? 1 : 2, title: line.trim() };
}

/** The rows of a text of separated values. A row goes on over line breaks inside quotes. */
function* rowBlocks(lines: Iterable<Line>): Generator<Block> {
  const open = new Open('table');
  let row: Line | null = null;
  let rowLines = 0;
  for (const { text, end } of lines) {
    if (row === null && text.trim() === '') continue;
    row = { text: row === null ? text : `${row.text}${row.end}${text}`, end };
    rowLines += 1;
    const isOpen: boolean = rowLines < mostLinesOfRow && row.text.length < longestBlock && (row.text.split('"').length - 1) % 2 === 1;
    if (isOpen) continue;
    if (open.begins) open.head = headOfValues(row.text.trim());
    open.add(row);
    [row, rowLines] = [null, 0];
    if (open.isLong) yield open.part(false);
  }
  if (row) open.add(row);
  yield* endOf(open, true);
}

/** Source code between blank lines. */
function* codeBlocks(lines: Iterable<Line>): Generator<Block> {
  let open = new Open('code');
  for (const line of lines) {
    if (line.text.trim() === '') {
      yield* endOf(open, true);
      open = new Open('code');
    } else open.add(line);
    if (open.isLong) yield open.part(false);
  }
  yield* endOf(open, true);
}
