import { foldPattern, foldText } from './folding.js';

const rest = '\\p{L}{0,40}';

/**
 * A regular expression that is compiled on first use: compiling all of them at the start takes about 30 ms, and most processes use none.
 * The object itself has no pattern: build another expression from its `source`, not from the object.
 */
class Phrases extends RegExp {
  private compiled: RegExp | null = null;
  /** For folded texts; null if it cannot be folded, undefined before its first use. */
  private folded: RegExp | null | undefined;

  constructor(private readonly pattern: string) {
    super('', 'iu');
  }

  override get source(): string {
    return this.pattern;
  }

  override test(text: string): boolean {
    if (this.folded === undefined) {
      const source = foldPattern(this.pattern);
      this.folded = source === null ? null : new RegExp(source);
    }
    return this.folded === null ? this.whole().test(text) : this.folded.test(foldText(text));
  }

  /** Called by `match`, `replace` and `search`. */
  override exec(text: string): RegExpExecArray | null {
    return this.whole().exec(text);
  }

  override [Symbol.matchAll](text: string): RegExpStringIterator<RegExpExecArray> {
    return this.whole()[Symbol.matchAll](text);
  }

  override [Symbol.split](text: string, limit?: number): string[] {
    return this.whole()[Symbol.split](text, limit);
  }

  private whole(): RegExp {
    return (this.compiled ??= new RegExp(this.pattern, this.flags));
  }
}

/**
 * Several patterns in any order within one sentence. A search for all of them starts again at every character. So each pattern is first
 * searched for alone, because most texts lack one of them.
 */
class InOneSentence extends Phrases {
  private readonly parts: readonly RegExp[];

  constructor(patterns: readonly string[]) {
    const alone = patterns.map((pattern) => `(?<!\\p{L})${pattern}(?!\\p{L})`);
    super(alone.map((pattern) => `(?=[^.!?]{0,200}${pattern})`).join(''));
    this.parts = alone.map((pattern) => new Phrases(pattern));
  }

  override test(text: string): boolean {
    return this.parts.every((part) => part.test(text)) && super.test(text);
  }

  override exec(text: string): RegExpExecArray | null {
    return this.parts.every((part) => part.test(text)) ? super.exec(text) : null;
  }
}

/** A pattern with the flags `iu`, for long lists of words. */
export const anyOf = (pattern: string): RegExp => new Phrases(pattern);

/** Patterns that must all be found as whole words in one sentence, in any order. */
export const inOneSentence = (...patterns: readonly string[]): RegExp => new InOneSentence(patterns);

/**
 * One expression for a list of phrases, matched as whole words of any script. `\b` only knows ASCII letters, so it finds a boundary inside
 * "für" and none before "§". A blank in a phrase matches any white space, ` ?` some or none; `*` matches the rest of a word.
 */
export const phrases = (...list: readonly string[]): RegExp =>
  new Phrases(
    `(?<![\\p{L}\\p{N}_])(?:${list.map((phrase) => phrase.replaceAll(' ?', '\\s{0,2}').replaceAll(' ', '\\s+').replaceAll('*', rest)).join('|')})(?![\\p{L}\\p{N}_])`,
  );

const everywhere = new WeakMap<RegExp, RegExp>();

export const countOf = (text: string, expression: RegExp): number => {
  let global = everywhere.get(expression);
  if (!global) everywhere.set(expression, (global = new RegExp(expression.source, `${expression.flags.replace('g', '')}g`)));
  let count = 0;
  for (const _match of text.matchAll(global)) count += 1;
  return count;
};

/**
 * Counts words: runs of non-blanks with a letter or a digit; in scripts without blanks two characters count as a word. Stops at `limit`.
 */
export function countWords(text: string, limit: number): number {
  let words = 0;
  for (const [run] of text.matchAll(/\S+/gu)) {
    const dense =
      run.length > 2
        ? (run.slice(0, limit * 2).match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0)
        : 0;
    if (dense > 0) words += Math.ceil(dense / 2);
    else if (/[\p{L}\p{N}]/u.test(run)) words += 1;
    if (words >= limit) return limit;
  }
  return words;
}
