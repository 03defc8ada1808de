import { withPairs } from '@conclave/contracts';

/** Words that say nothing about the subject of a text, English and German. */
const stopWords: ReadonlySet<string> = new Set(
  (
    'a about all also am an and any are as at be been but by can could did do does for from had has have he her his how i if in into is it its ' +
    'me more most my no not of on or our out she so some such than that the their them then there these they this those to up was we were what ' +
    'when where which while who whom whose why will with would you your ' +
    'aber als am an auch auf aus bei bin bis bist da damit dann das dass dem den der des die dies diese dieser dieses doch dort du durch ein eine ' +
    'einem einen einer eines er es etwas für gegen hat hatte ich ihr im in ist ja kann man mit nach nicht noch nur ob oder ohne sehr sich sie sind ' +
    'so über um und uns unter vom von vor wann war waren warum was weil welche welcher welches wenn wer werden wie wieder wir wird wo zu zum zur'
  ).split(' '),
);

/** Pairs of Hiragana are nearly always endings and particles. */
const grammar = /^\p{Script=Hiragana}+$/u;

/** Limits the cost of a hostile query. */
const mostTerms = 48;
const longestTerm = 64;

/** Whether any of the words is not a stop word. */
export const hasTellingWord = (words: readonly string[]): boolean => words.some((word) => !stopWords.has(word.toLowerCase()));

/** Search words of a query for full text: unique, lower case, without stop words unless nothing else is left. */
export function queryWords(query: string): readonly string[] {
  const words =
    withPairs(query.slice(0, 10_000).normalize('NFKC'))
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const distinct = [...new Set(words.filter((word) => word.length <= longestTerm))];
  const telling = distinct.filter((word) => !stopWords.has(word) && !grammar.test(word));
  return (telling.length > 0 ? telling : distinct).slice(0, mostTerms);
}
