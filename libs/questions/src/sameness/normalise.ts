import { plainCharacters } from '@conclave/loop';

/** Quoted text and code, compared literally: "…", „…“, “…”, «…», `…` and ``` … ```. Apostrophes are not quotes. */
export const literalPattern =
  /```[\s\S]*?```|`[^`\n]+`|"[^"\n]{1,2000}"|“[^”\n]{1,2000}”|„[^“”\n]{1,2000}[“”]|«[^»\n]{1,2000}»|»[^«\n]{1,2000}«/gu;

/** Questions about letters themselves, in which case matters. */
const aboutLetters =
  /(?<!\p{L})(?:hash|md5|sha|crc|base64|(?:en|de)code|(?:en|de)crypt|(?:en|de)kodier|verschlüssel|entschlüssel|regex|regular expression|regulär|password|passwort|upper-?case|lower-?case|capital letter|großbuchstab|kleinbuchstab|case[- ]sensitiv|groß-? ?und kleinschreib|anagram)/iu;

/** Words whose capitals may carry meaning: mixed case inside (getUser), letters with digits, units after a number (5 MW). */
const keepsCase = (word: string): boolean => /^[^\p{Ll}]*\p{Ll}[^\p{Lu}]*\p{Lu}/u.test(word) || (/\p{L}/u.test(word) && /\d/u.test(word));
const inLowerCase = (text: string): string =>
  text.replace(/(?<=\d\s?)[\p{L}µ°/]{1,4}(?![\p{L}\p{N}])|[\p{L}\p{N}_]+/gu, (word, offset: number) =>
    keepsCase(word) || /\d\s?$/u.test(text.slice(Math.max(0, offset - 2), offset)) ? word : word.toLowerCase(),
  );

const longestFolded = 20_000;

/**
 * The key of the exact cache: texts with equal keys are the same question, identical except for case, blanks and closing punctuation.
 * Quotes and code stay unchanged, and so does everything where such a change makes another question: `5!`, a regular expression's last `?`,
 * indented code, a word to be hashed. A text above 20,000 characters is its own key, because nobody types it twice.
 */
export function normaliseQuestion(text: string): string {
  if (text.length > longestFolded) return text.trim();
  const caseMatters = aboutLetters.test(text);
  const isIndented = /\n[ \t]{2,}\S|\n\t/u.test(text);
  let result = '';
  let at = 0;
  const prose = (part: string): string => {
    const plain = plainCharacters(part);
    const folded = isIndented ? plain.replace(/\r\n/gu, '\n') : plain.replace(/\s+/gu, ' ');
    return caseMatters ? folded : inLowerCase(folded);
  };
  for (const match of text.matchAll(literalPattern)) {
    result += prose(text.slice(at, match.index)) + match[0];
    at = match.index + match[0].length;
  }
  result += prose(text.slice(at));
  return withoutClosing(result.trim());
}

/** Removes closing ?!.,; if they can only be punctuation: the last word is a plain word or a number, and "!" is no factorial. */
function withoutClosing(text: string): string {
  const end = /[?!.,;\s]+$/u.exec(text.slice(-40));
  if (!end) return text;
  const kept = text.slice(0, text.length - end[0].length);
  const last = /\S{1,80}$/u.exec(kept.slice(-80))?.[0] ?? '';
  const isPlain = /^[\p{L}\p{N}\p{M}'’.,:%€$£°-]+$/u.test(last) || /["“”»«`]$/u.test(last);
  const mayBeFactorial = end[0].includes('!') && (/\d$/u.test(last) || /^\p{L}$/u.test(last));
  return isPlain && !mayBeFactorial ? kept.trimEnd() : text;
}
