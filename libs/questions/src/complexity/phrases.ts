const rest = '\\p{L}{0,40}';

/**
 * One expression for a list of phrases, matched as whole words of any script. `\b` will not do: it knows ASCII letters only, so it
 * sees a boundary inside "für" and none before "§". A blank in a phrase stands for any white space, ` ?` for some or none; `*` for the rest of a word.
 */
export const phrases = (...list: readonly string[]): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{N}_])(?:${list.map((phrase) => phrase.replaceAll(' ?', '\\s{0,2}').replaceAll(' ', '\\s+').replaceAll('*', rest)).join('|')})(?![\\p{L}\\p{N}_])`,
    'iu',
  );

const everywhere = new WeakMap<RegExp, RegExp>();

export const countOf = (text: string, expression: RegExp): number => {
  let global = everywhere.get(expression);
  if (!global) everywhere.set(expression, (global = new RegExp(expression.source, `${expression.flags.replace('g', '')}g`)));
  let count = 0;
  for (const _match of text.matchAll(global)) count += 1;
  return count;
};

/** Words are runs of non-blanks with a letter or a digit; in scripts without blanks two characters count as a word. Stops at `limit`. */
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
