import { countWords } from './complexity/phrases.js';
import { fillers } from './question-terms.js';
import { grammarOf, isFraming } from './sameness/lexicon.js';

/** A run of Latin letters, with what follows an apostrophe, or of other letters: scripts without blanks stand right beside Latin ones. */
const wordPattern = /(?:\p{Script=Latin}\p{M}*)+(?:'\p{Script=Latin}+)?|(?:(?!\p{Script=Latin})[\p{L}\p{M}])+/gu;
const contraction = /(?:n't|'(?:s|re|ve|ll|d|m))$/u;
const isKnown = (word: string): boolean =>
  grammarOf.en.has(word) ||
  grammarOf.de.has(word) ||
  isFraming(word, null) ||
  fillers.has(word) ||
  fillers.has(word.replace(contraction, ''));

/**
 * Known words that are also frequent in other languages with Latin letters; they count half. Most are more than 0.4 % of the words of
 * the Universal Declaration of Human Rights in one of 18 such languages.
 */
const sharedWords = new Set('a alle are as at da das den der des die do du er her hier i me no on per'.split(' '));
/**
 * Share of known words below which a text is in another language; a word that opens a question counts twice. Of the questions of XQuAD,
 * 0.3 % of the English, 0.7 % of the German and 99 to 100 % of those in ten other languages are below it.
 */
const leastKnown = 0.25;
const opener =
  /^(?:who|what|which|when|where|why|how|does|did|could|would|should|wer|wem|wen|wann|warum|wie|welche[rnsm]?|wo(?:r?(?:an|auf|aus|in|über|um)|mit|durch|von|vor|zu|für|bei|gegen|nach|her|hin))$/u;
/** Fewer words may be a name or a term of any language. */
const fewestWords = 3;

/**
 * Whether a text is in a language whose words the rules of this library do not know: neither English nor German. They find no topic, no
 * danger and no dependence on the day in it, so that nothing may rest on what they do not find.
 */
export function isUnread(text: string): boolean {
  let latin = 0;
  let other = 0;
  let known = 0;
  for (const [word] of text.toLowerCase().replaceAll('’', "'").matchAll(wordPattern)) {
    if (/\p{Script=Latin}/u.test(word)) {
      if (latin === 0 && opener.test(word)) known += 2;
      else if (isKnown(word)) known += sharedWords.has(word) ? 0.5 : 1;
      latin += 1;
      // A single letter may be a symbol, such as α or Ω.
    } else if (word.length > 1 || /\p{Script=Han}/u.test(word)) other += Math.max(1, countWords(word, word.length));
  }
  if (other > latin) return true;
  return latin + other >= fewestWords && known / (latin + other) < leastKnown;
}
