import { promptMarks } from '@conclave/contracts';

const { open, close } = promptMarks.data;

/** Characters of a line that show whether it begins a block of code. */
const shownOfLine = 3;

/** Whether a text contains the marks itself: then its author uses them on purpose. */
const holdsMarks = (text: string): boolean => text.includes(open) || text.includes(close);

/**
 * Removes the marks of quoted data from a model's text, wherever the chunks are cut: small models repeat their prompt. `labels` are
 * headings of quoted answers, removed at the start of a line. In a code block, only a mark alone on its line is removed: a heredoc may be
 * called DATA. If the user's `own` words contain the marks, all marks stay.
 */
export class QuoteFilter {
  private readonly marks: readonly string[];
  private held = '';
  /** How the current line begins, without blanks. */
  private line = '';
  private isCode = false;
  /** A mark at the start of a line also removes the end of that line. */
  private dropsLineEnd = false;

  constructor(own = '', labels: readonly string[] = []) {
    this.marks = holdsMarks(own) ? [] : [open, close, ...labels.map((label) => `${label} `)];
  }

  /** What may be shown of the text so far. */
  push(text: string): string {
    this.held += text;
    return this.take(false);
  }

  /** What was held back. Safe to call twice. */
  end(): string {
    return this.take(true);
  }

  private take(isEnd: boolean): string {
    let shown = '';
    for (;;) {
      const found = this.next();
      if (!found) {
        const keep = isEnd ? 0 : heldBack(this.held, this.marks);
        shown += this.show(this.held.slice(0, this.held.length - keep));
        this.held = this.held.slice(this.held.length - keep);
        return shown;
      }
      const after = this.held.slice(found.at + found.mark.length);
      // Only the following text shows whether it is alone on its line.
      if (!isEnd && /^[ \t]*$/.test(after)) {
        shown += this.show(this.held.slice(0, found.at));
        this.held = this.held.slice(found.at);
        return shown;
      }
      shown += this.show(this.held.slice(0, found.at));
      const beginsLine = this.line.trim() === '';
      const goes =
        found.mark === open || found.mark === close ? !this.isCode || (beginsLine && /^[ \t]*(?:\n|\r|$)/.test(after)) : beginsLine;
      this.held = after;
      if (!goes) shown += this.show(found.mark);
      else if (beginsLine) this.dropsLineEnd = true;
    }
  }

  private next(): { readonly at: number; readonly mark: string } | null {
    const found = this.marks.map((mark) => ({ at: this.held.indexOf(mark), mark })).filter(({ at }) => at >= 0);
    return found.sort((a, b) => a.at - b.at)[0] ?? null;
  }

  private show(text: string): string {
    if (text === '') return '';
    const shown = this.dropsLineEnd ? text.replace(/^[ \t]*\r?\n?/, '') : text;
    this.dropsLineEnd = false;
    const lines = (this.line + shown).split('\n');
    this.line = lines.pop()!.trimStart().slice(0, shownOfLine);
    for (const line of lines) if (/^\s*(?:```|~~~)/.test(line)) this.isCode = !this.isCode;
    return shown;
  }
}

/** Length of the longest suffix that may begin a mark. */
function heldBack(text: string, marks: readonly string[]): number {
  const longest = Math.max(0, ...marks.map((mark) => mark.length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length -= 1)
    if (marks.some((mark) => mark.startsWith(text.slice(-length)))) return length;
  return 0;
}

/** A whole text without the marks of quoted data. */
export function withoutMarks(text: string, own = '', labels: readonly string[] = []): string {
  const filter = new QuoteFilter(own, labels);
  return filter.push(text) + filter.end();
}
