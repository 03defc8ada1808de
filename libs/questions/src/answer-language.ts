import { undetermined } from '@conclave/contracts';
import { bothEnds } from './complexity/both-ends.js';
import { withoutQuotes } from './complexity/courtesy.js';
import { countWords } from './complexity/phrases.js';
import { languageOf } from './sameness/reading.js';
import { isUnread } from './unread.js';

/** A request to translate names the language of its answer itself, or means that of the reader. */
const asksToTranslate =
  /translat|übersetz(?!t)|tradu[cçzi]|vertaa?l|oversett|oversætt|översätt|tłumacz|přelož|перев(?:ед|од)|переклад|μετ[αά]φρα|ترجم|תרג[םמ]|अनुवाद|çevir|dịch sang|terjemah|翻[译譯訳]|번역|แปล/iu;
/** Names of languages, in themselves and in English and German: a system message that has one says what to answer in. */
const languageName =
  /(?<!\p{L})(?:english|englisch|anglais|ingl[eéê]s[ea]?|engelska?|engels|angielsk\p{L}*|англійськ\p{L}*|английск\p{L}*|ingilizce|german|deutsch|allemand|alem[aá]n|alemão|tedesco|niemieck\p{L}*|немецк\p{L}*|french|franz[öo]sisch\p{L}*|français|franc[eéê]s|spanish|spanisch\p{L}*|español|castellano|italian|italienisch\p{L}*|italiano|portuguese|portugiesisch\p{L}*|português|dutch|niederländisch\p{L}*|nederlands|polish|polnisch\p{L}*|polsku?|russian|russisch\p{L}*|русск\p{L}*|ukrainian|turkish|türkisch\p{L}*|türkçe|chinese|mandarin|chinesisch\p{L}*|japanese|japanisch\p{L}*|korean|arabic|arabisch\p{L}*|hindi|vietnamese|thai|swedish|danish|norwegian|finnish|czech|greek|hebrew|persian|indonesian)(?!\p{L})|英[语語文]|中文|汉语|日本語|日语|한국어|영어|العربية|الإنجليزية/iu;

/** Whether a system message decides on the language of answers. */
export const decidesLanguage = (system: string): boolean => languageName.test(system) || asksToTranslate.test(system);

/** A turn of fewer words may be a name, or an answer such as "да"; twice as many are needed where no language can be named. */
const fewestWords = 2;
/**
 * The language in which a question is to be answered, as a code of ISO 639-1; `undetermined` if it is none that can be named; null for
 * English, or if nothing can be told. A short turn ("да", "¿y mañana?") has the language of the turns before it, given oldest first.
 * `detect` names the language of a text, or returns `undetermined`; it is called only for texts that are neither English nor German.
 */
export function answerLanguageOf(question: string, earlier: readonly string[], detect: (text: string) => string): string | null {
  if (asksToTranslate.test(question)) return null;
  let found: string | null = null;
  for (const text of [question, ...[...earlier].reverse()]) {
    const spoken = withoutQuotes(bothEnds(text)).replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`|https?:\/\/\S+/gu, ' ');
    const language = isUnread(spoken) ? detect(spoken) : languageOf(spoken);
    found ??= language;
    if (language === null || countWords(spoken, 2 * fewestWords) < (language === undetermined ? 2 * fewestWords : fewestWords)) continue;
    found = language;
    break;
  }
  return found === 'en' ? null : found;
}
