import { undetermined } from '@conclave/contracts';
import { eld } from 'eld/extrasmall';
/** Scores this near to the best are as good: Norwegian and Danish, Hindi and Marathi, Russian and Bulgarian. */
const nearlyEqual = 0.95;
/** Named all the same, because the others are much rarer. */
const widespread: ReadonlySet<string> = new Set('ar de es fr hi it ja pt ru tr zh'.split(' '));
/** What the detector calls Malay is mostly Indonesian, which it does not know. */
const misnamed: ReadonlySet<string> = new Set(['ms']);

/**
 * Language of a text, as a code of ISO 639-1, or `undetermined`. Imported when it is needed: its tables take 70 MB, which gateways that are
 * asked in English and German do without.
 */
export function detectedLanguage(text: string): string {
  // Names in Latin letters say nothing about a sentence in another script.
  const foreign = text.replace(/\p{Script=Latin}+/gu, ' ');
  const found = eld.detect(/\p{L}{2}/u.test(foreign) ? foreign : text);
  const [best = 0, next = 0] = Object.values(found.getScores()).sort((a, b) => b - a);
  const isSure = found.isReliable() && (next < nearlyEqual * best || widespread.has(found.language));
  return isSure && !misnamed.has(found.language) ? found.language : undetermined;
}
