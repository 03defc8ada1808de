/** English and German words for operators, longest first. */
const spoken: readonly (readonly [RegExp, string])[] = [
  [/\b(?:(?:the|die)\s+)?(?:square root of|(?:quadrat)?wurzel (?:aus|von))\s+/giu, 'sqrt '],
  [/\b(?:(?:the|die)\s+)?(?:cube root of|kubikwurzel (?:aus|von)|dritte wurzel (?:aus|von))\s+/giu, 'cbrt '],
  [/\s+(?:to the power of|raised to(?: the power of)?|hoch)\s+/giu, '^'],
  [/\s+(?:multiplied by|times|mal|multipliziert mit)\s+/giu, ' * '],
  [/\s+(?:divided by|over|geteilt durch|dividiert durch|durch)\s+/giu, ' / '],
  [/\s+(?:squared|zum quadrat)(?![\p{L}\p{N}])/giu, '^2'],
  [/\s+(?:cubed)(?![\p{L}\p{N}])/giu, '^3'],
  [/\s+plus\s+/giu, ' + '],
  [/\s+minus\s+/giu, ' - '],
  [/^minus\s+/iu, '-'],
  [/\s*(?:per ?cent|prozent)(?![\p{L}\p{N}])/giu, '%'],
  [/\b(?:die\s+)?fakult(?:ä|ae)t (?:von|der)\s+(\d+)/giu, '$1!'],
  [/\b(?:the\s+)?factorial of\s+(\d+)/giu, '$1!'],
  [/\b(?:equals|is equal to|ist gleich|gleich)\b/giu, '='],
];

/** Words allowed in a formula. Single letters are names. */
const words: ReadonlySet<string> = new Set(
  (
    'sqrt cbrt root exp ln log lg lb log2 log10 abs sign sgn sin cos tan cot sec csc asin acos atan atan2 arcsin arccos arctan sinh cosh tanh ' +
    'asinh acosh atanh factorial binomial choose gamma erf floor ceil ceiling mod gcd lcm max min re im conjugate pow pi infinity inf infty oo ' +
    'unendlich of von alpha beta delta epsilon theta lambda mu nu xi rho sigma tau phi chi psi omega deg degrees'
  ).split(' '),
);

export const withSigns = (text: string): string =>
  spoken.reduce((so, [words, sign]) => so.replace(words, sign), text.replace(/\\(?:cdot|times)/g, '*').replace(/[`$]/g, ' ')).trim();

/** Whether a text is a formula, not a sentence: every word in it is a mathematical name. */
export function isFormula(text: string): boolean {
  if (!/[\p{L}\p{N}]/u.test(text)) return false;
  const found = text.replace(/\d[eE][+-]?\d+/g, '1').match(/\p{L}[\p{L}\d]*/gu) ?? [];
  return found.every(
    (word) => word.length === 1 || words.has(word.toLowerCase()) || /^\p{L}\d{1,3}$/u.test(word) || /^[abckmnpqrstuvwxyz]{2,3}$/.test(word),
  );
}

/** Converts German numbers to decimal points: `2.340,5` is 2340.5. Null if one is ambiguous, such as `2.340`. */
export function germanNumbers(text: string): string | null {
  const decimals = /\d,\d/.test(text);
  const groups = /(?<![\d.,])\d{1,3}(?:\.\d{3})+(?![\d.])/;
  if (groups.test(text) && !decimals && !/(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.])/.test(text)) return null;
  const joined = text.replace(new RegExp(groups, 'g'), (number) => number.replaceAll('.', ''));
  return joined.replace(/(\d),(\d)/g, '$1.$2');
}
