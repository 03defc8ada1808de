/** Words of calculations and conversions that are corrected if one letter is wrong, missing, doubled or swapped. */
const words: ReadonlySet<string> = new Set(
  (
    'what whats calculate compute convert multiplied divided times plus minus percent square root difference between product average median ' +
    'kilometers meters miles pounds kilograms ounces gallons liters fahrenheit celsius inches minutes seconds hours degrees ' +
    'leap year weekday solve much many'
  ).split(' '),
);

const swapsOf = (a: string, b: string): boolean => {
  if (a.length !== b.length) return false;
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  return at >= 0 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
};

/** Whether two words become equal when one letter is removed from one of them, or replaced. */
function oneLetterApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const [left, right] = [a.slice(at), b.slice(at)];
  return left.slice(1) === right.slice(1) || left === right.slice(1) || left.slice(1) === right;
}

/** The text with misspelt words of the list above corrected. A word of three letters is corrected only at the start of the text. */
export function withoutTypos(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}])\p{Ll}{3,}(?![\p{L}\p{N}])/giu, (word, at: number) => {
    const lower = word.toLowerCase();
    if (words.has(lower) || (lower.length < 4 && at > 0)) return word;
    const near = [...words].filter((known) => known[0] === lower[0] && (oneLetterApart(lower, known) || swapsOf(lower, known)));
    return near.length === 1 ? near[0]! : word;
  });
}
