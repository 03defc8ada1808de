/** A number in brackets, or several: `[2]`, `[1, 3]`. */
const citation = /^\[\s*\d{1,3}(?:\s*,\s*\d{1,3})*\s*\]/;
/** Text that may become a citation with the text that follows. */
const mayBecome = /^\[[\d\s,]{0,40}$/;

/**
 * Removes citations without a fact from a text, wherever the chunks are cut: of `[1, 9]` with one fact, `[1]` stays. Code, links and
 * numbers in brackets that occur in the user's `own` words stay. Facts are numbered from 1 to `count`.
 */
export class KnownCitations {
  private held = '';
  /** Backticks that opened the current code; empty outside of code. */
  private code = '';

  constructor(
    private readonly count: number,
    private readonly own = '',
  ) {}

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
    let at = 0;
    while (at < this.held.length) {
      const part = this.held[at] === '`' ? this.backticks(at, isEnd) : this.code === '' ? this.words(at, isEnd) : this.inCode(at);
      if (part === null) break;
      shown += part.shown;
      at += part.length;
    }
    this.held = this.held.slice(at);
    return shown;
  }

  private backticks(at: number, isEnd: boolean): Part | null {
    const run = /^`+/.exec(this.held.slice(at))![0];
    if (!isEnd && at + run.length === this.held.length) return null;
    if (this.code === '') this.code = run;
    else if (run.length >= this.code.length) this.code = '';
    return whole(run);
  }

  /** Code inside a line ends with the line at the latest. */
  private inCode(at: number): Part {
    const text = /^[^`\n]+|^\n/.exec(this.held.slice(at))![0];
    if (text === '\n' && this.code.length < 3) this.code = '';
    return whole(text);
  }

  /** Ordinary text up to the next bracket, or a bracket with the blanks before it. Null if more text is needed to decide. */
  private words(at: number, isEnd: boolean): Part | null {
    const rest = this.held.slice(at);
    const text = /^(?: *[^ `[])+/.exec(rest)?.[0];
    if (text) return whole(text);
    const blanks = /^ */.exec(rest)![0];
    const bracket = rest.slice(blanks.length);
    if (bracket === '') return isEnd ? whole(blanks) : null;
    if (!bracket.startsWith('[')) return whole(blanks);
    const group = citation.exec(bracket)?.[0];
    if (!group) return !isEnd && mayBecome.test(bracket) ? null : whole(`${blanks}[`);
    const next = bracket[group.length];
    if (next === undefined && !isEnd) return null;
    if (next === '(') return whole(blanks + group);
    const numbers = group.match(/\d+/g)!;
    const kept = numbers.filter((n) => (Number(n) >= 1 && Number(n) <= this.count) || this.own.includes(`[${n}]`));
    const length = blanks.length + group.length;
    if (kept.length === numbers.length) return whole(blanks + group);
    if (kept.length > 0) return { shown: `${blanks}[${kept.join(', ')}]`, length };
    return { shown: next !== undefined && /[\p{L}\p{N}]/u.test(next) ? blanks : '', length };
  }
}

/** Shown text, and the length of the original. */
interface Part {
  readonly shown: string;
  readonly length: number;
}
const whole = (text: string): Part => ({ shown: text, length: text.length });
