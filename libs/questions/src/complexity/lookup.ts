import words from '../assets/lookup.json' with { type: 'json' };
import { languageOf } from '../sameness/reading.js';
import { fillers } from '../question-terms.js';
import { countOf, phrases } from './phrases.js';

/** Beginnings of a question, or of a request for facts. */
const opener =
  'who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|name|list|find|identify|' +
  'wer|wen|wem|wessen|was|welche[rnsm]?|wann|wo|woher|wohin|warum|wieso|weshalb|wie|wieviele?|worin|woraus|ist|sind|war|waren|hat|haben|hatte|wurde|wird|werden|kann|können|gibt|gab|nenne|finde|' +
  '(?:in|at|on|for|from|of|by|to|with|under|during|an|auf|aus|bei|für|mit|nach|über|unter|von|vor|zu|zur|zum) (?:which|what|whom|whose|how|welche[rnsm]?|wem|wen|wessen|was|wie)';
const asks = new RegExp(`\\?|^["'(\\s]*(?:${opener})(?![\\p{L}\\p{N}])`, 'iu');

/** Whether the text asks for facts that can be looked up. Requests worded as questions count as well, because a look-up is cheap. */
export const asksForFacts = (text: string): boolean => asks.test(text);

/** Requests to be told about something, which documents or the web may answer as they answer a question. */
export const asksToBeTold = phrases(...words.asksToBeTold);

const interrogative = phrases(
  'who',
  'whom',
  'whose',
  'where',
  'when',
  'which',
  'how (?:many|much|old|tall|high|long|big|large|far|often)',
  'in what',
  'what year',
  'wer',
  'wen',
  'wem',
  'wessen',
  'wo',
  'woher',
  'wohin',
  'wann',
  'welche[rnsm]?',
  'wie (?:viele?|alt|hoch|groß|lang|weit|oft|heißt|hieß)',
);

/**
 * Whether the text asks who, where, when, which or how many, or names a person, a thing or a year, instead of asking for a definition or
 * advice.
 */
export const asksAboutTheWorld = (text: string): boolean => {
  return interrogative.test(text) || /\d{3}/u.test(text) || (namesIn(text).length > 0 && !isGerman(text));
};

const wordShape = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.&-]*/gu;

/** German capitalises every noun, so capitals do not indicate names. */
const isGerman = (text: string): boolean => languageOf(text) === 'de';

/** Days and months have capitals in English, but are not names. */
const isOfCalendar = phrases(
  '(?:mon|tues|wednes|thurs|fri|satur|sun)days?',
  'january|february|march|april|may|june|july|august|september|october|november|december',
);

/** Capitalised words that do not begin a sentence. */
export const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(wordShape)]
    .filter(({ 0: word, index }) => /^\p{Lu}/u.test(word) && !opensSentence(text, index) && !isSmall(word) && !isOfCalendar.test(word))
    .map(([word]) => word.replace(/['’]s$/u, ''));

/** Whether the word at this position begins its sentence or line, with or without an opening quotation mark. */
function opensSentence(text: string, at: number): boolean {
  const end = at > 0 && `"'(`.includes(text[at - 1]!) ? at - 1 : at;
  if (end === 0 || text[end - 1] === '\n') return true;
  let blank = end;
  while (blank > 0 && /\s/u.test(text[blank - 1]!)) blank -= 1;
  return blank < end && blank > 0 && '.?!:'.includes(text[blank - 1]!);
}

const isSmall = (word: string): boolean => word === 'I' || fillers.has(word.toLowerCase().replace(/['’]s$/u, ''));

/** The distinct content words of a text in lower case: all words except fillers. */
export const tellingWords = (text: string): readonly string[] => [
  ...new Set(
    [...text.matchAll(wordShape)]
      .map(([word]) =>
        word
          .replace(/['’]s$/u, '')
          .replace(/[.'’-]+$/u, '')
          .toLowerCase(),
      )
      .filter((word) => word !== 'i' && !fillers.has(word)),
  ),
];

/** Minimum number of telling words in a question with several things to find. */
const compoundFrom = 5;
/** "the mother of the inventor of …", "the founder's home town"; German nouns are capitalised: "die Mutter des Erfinders der …". */
const relations = [
  /(?<!\p{L})of(?!\p{L})|(?<!(?<!\p{L})(?:what|who|where|when|how|why|that|there|here|it|he|she|let))['’]s\s+["'“„(]?[\p{L}\p{N}]|\p{L}s['’]\s+\p{L}/giu,
  /\p{Lu}\p{L}+\s+(?:des|der|vom|von)(?=\s+["'“„(]?[\p{L}\p{N}])/gu,
];
/** A thing described by another: "the town where …", "des Landes, in dem …". */
const described =
  /\p{L}\s+(?:who|whom|whose|which|where|that)\s+\p{L}|,\s+(?:in |an |auf |aus |von |mit |zu |über )?(?:der|die|das|dem|den|deren|dessen|denen)\s+\p{L}/iu;
/** Asks where or when something is. If the question describes that thing only by a relation, its name must be found first. */
const attribute =
  /^["'(\s]*(?:(?:in|at|on|from) )?(?:where|when|wo|wann|which \p{L}+ (?:did|does|was|is)|(?:in|aus|an) welche[rnm]? \p{L}+)(?!\p{L})/iu;

/** Whether a factual question needs more than one look-up, judged only by its structure. */
export function isCompound(text: string): boolean {
  const related = relations.reduce((sum, pattern) => sum + countOf(text, pattern), 0);
  return related >= 2 || (related >= 1 && (attribute.test(text) || described.test(text)));
}

/** Many telling words in one question: it names several things to be combined. */
export const isDense = (text: string): boolean => tellingWords(text).length >= compoundFrom;

const comparative = phrases(
  '\\p{L}{3,}er',
  'more',
  'fewer',
  'less',
  'first',
  'better',
  'worse',
  'earlier',
  'later',
  'mehr',
  'weniger',
  'zuerst',
  'eher',
);
const alternatives = /(?<!\p{L})(?:or|oder|than|als)(?!\p{L})/iu;
/** Asks what two things have in common, or where they differ. */
const together =
  /(?<!\p{L})(?:both|same|in common|beide[rnsm]?|gleiche[rnsm]?|derselben?|dieselben?|dasselbe|gemeinsam|compare|contrast|differences?|vergleiche?n?|unterschiede?)(?!\p{L})/iu;
const pair = /(?<!\p{L})(?:and|und|as|wie)(?!\p{L})/iu;

/** "Who is older, A or B?", "Are A and B of the same …?": both have to be looked up. */
export const comparesTwo = (text: string): boolean =>
  asks.test(text) && ((comparative.test(text) && alternatives.test(text)) || (together.test(text) && pair.test(text)));

/** Asks for something that changes with time, which a model does not know. */
export const asksForNow = phrases(...words.asksForNow);
