import { longestGroup, numberGroup } from './number-group.js';

/** Most blanks or backticks that are held back until it is known what follows them. */
const mostHeld = 200;

/** Null while a further character may decide it. */
function beginsAsJson(text: string, isEnd: boolean): boolean | null {
  const [, bracket, next] = /^\s*([{[]?)\s*(\S?)/u.exec(text)!;
  if (next !== '' || isEnd || text.length > mostHeld) return bracket !== '' && /["{}]/.test(next!);
  return null;
}

/**
 * Removes citations without a fact from a text, wherever the chunks are cut: of `[1, 9]` with one fact, `[1]` stays, and so it does of
 * `[1[9]]`. JSON, code, links, matrices and numbers in brackets that occur in the user's `own` words stay. Facts are numbered from 1 to `count`.
 */
export class KnownCitations {
  private held = '';
  /** Whether the whole text is JSON, by its beginning; null while that is not known. */
  private isJson: boolean | null = null;
  /** Backticks that opened the current code; empty outside of code. */
  private code = '';
  /** Open brackets of a list of numbers that is too long for a citation; 0 outside of one. */
  private depth = 0;
  /** The last shown character; empty at the beginning. */
  private last = '';

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
    this.isJson ??= beginsAsJson(this.held, isEnd);
    if (this.isJson === null) return '';
    if (this.isJson) {
      const shown = this.held;
      this.held = '';
      return shown;
    }
    let shown = '';
    let at = 0;
    while (at < this.held.length) {
      const part = this.next(at, isEnd);
      if (part === null) break;
      shown += part.shown;
      this.last = part.shown.at(-1) ?? this.last;
      at += part.length;
    }
    this.held = this.held.slice(at);
    return shown;
  }

  private next(at: number, isEnd: boolean): Part | null {
    if (this.depth > 0) return this.inList(at);
    if (this.held[at] === '`') return this.backticks(at, isEnd);
    return this.code === '' ? this.words(at, isEnd) : this.inCode(at);
  }

  /** A long list of numbers stays as it is; it ends with its last bracket, or where it is no such list. */
  private inList(at: number): Part {
    let end = at;
    for (; end < this.held.length && this.depth > 0; end += 1) {
      const char = this.held[end]!;
      if (char === '[') this.depth += 1;
      else if (char === ']') this.depth -= 1;
      else if (!/[\d\s,]/.test(char)) {
        this.depth = 0;
        break;
      }
    }
    return whole(this.held.slice(at, end));
  }

  private backticks(at: number, isEnd: boolean): Part | null {
    const run = /^`+/.exec(this.held.slice(at))![0];
    if (run.length > mostHeld) return whole(run);
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
    if (bracket === '') return isEnd || blanks.length > mostHeld ? whole(blanks) : null;
    if (!bracket.startsWith('[')) return whole(blanks);
    const found = numberGroup(bracket);
    if (found === 'open') {
      if (!isEnd && bracket.length < longestGroup) return null;
      if (bracket.length >= longestGroup) this.depth = 1;
      return whole(`${blanks}[`);
    }
    if (found === null) return whole(`${blanks}[`);
    const group = bracket.slice(0, found.length);
    const next = bracket[group.length];
    if (next === undefined && !isEnd) return null;
    const kept = found.numbers.filter((n) => (n >= 1 && n <= this.count) || this.own.includes(`[${n}]`));
    if (next === '(' || found.isMatrix || kept.length === found.numbers.length) return whole(blanks + group);
    const length = blanks.length + group.length;
    if (kept.length > 0) return { shown: `${blanks}[${[...new Set(kept)].join(', ')}]`, length };
    // At the beginning of a line, the blank behind the number goes with it.
    if (next === ' ' && /^\n?$/.test(this.last)) return { shown: '', length: length + 1 };
    return { shown: next !== undefined && /[\p{L}\p{N}]/u.test(next) ? blanks : '', length };
  }
}

/** Shown text, and the length of the original. */
interface Part {
  readonly shown: string;
  readonly length: number;
}
const whole = (text: string): Part => ({ shown: text, length: text.length });
