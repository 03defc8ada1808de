/** Most items after which a list begins again. */
const longestPeriod = 40;
/** Longest item that is compared, in characters. */
const longestItem = 2_000;

const item = /^\s*(?:[*_]{0,2}|#+ )\d{1,4}[.)][*_]{0,2}\s+(\S.*)$/u;

interface Item {
  readonly text: string;
  /** Characters of the whole text up to the end of its line. */
  readonly end: number;
}

/** A numbered list that begins again: the items that are repeated, and how much of them was. */
export interface RepeatedItems {
  unit(): string;
  /** Characters up to the end of their first occurrence. */
  readonly firstEnd: number;
  /** Characters that repeated them, without numbers. */
  readonly repeated: number;
  /** How many times they were repeated. */
  readonly times: number;
}

/**
 * Follows a numbered list whose items are the same again and again, under new numbers: small models count on without anything to say.
 * Any line that is no item ends the list.
 */
export class NumberedRepetition {
  private line = '';
  private seen = 0;
  private items: Item[] = [];
  private period = 0;
  private repeated = 0;
  private lines = 0;
  private firstEnd = 0;

  /** Takes text that has at most one line break, at its end. Returns what is repeated at the end of a line, if anything is. */
  push(text: string): RepeatedItems | null {
    this.seen += text.length;
    if (this.line.length <= longestItem) this.line += text;
    if (!text.endsWith('\n')) return null;
    const line = this.line;
    this.line = '';
    if (line.trim() === '') return null;
    const read = line.length <= longestItem ? item.exec(line.trimEnd())?.[1] : undefined;
    if (read === undefined) {
      this.items = [];
      this.period = 0;
      return null;
    }
    this.take(read);
    this.items.push({ text: read, end: this.seen });
    if (this.items.length > 2 * longestPeriod) this.items.shift();
    if (this.period === 0) return null;
    const unit = (): string =>
      this.items
        .slice(-this.period)
        .map(({ text }) => text)
        .join('\n');
    return { unit, firstEnd: this.firstEnd, repeated: this.repeated, times: Math.floor(this.lines / this.period) };
  }

  private take(text: string): void {
    if (this.period > 0 && this.items.at(-this.period)!.text === text) {
      this.repeated += text.length;
      this.lines += 1;
      return;
    }
    const earlier = this.items.slice(-longestPeriod);
    const at = earlier.findLastIndex((one) => one.text === text);
    this.period = at < 0 ? 0 : earlier.length - at;
    this.repeated = text.length;
    this.lines = 1;
    this.firstEnd = earlier.at(-1)?.end ?? 0;
  }
}
