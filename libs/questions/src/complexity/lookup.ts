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

/** A request to write something: its facts are in the request, or come from the writer. */
const ordersWords = new RegExp(
  `^["'(\\s]*(?:(?:can|could|would|will) (?:you|u)|(?:kannst|könntest|würdest) du|können sie|please|bitte|just|now|mal)?\\s*(?:${words.ordersForWords.join('|')})(?![\\p{L}\\p{N}])`,
  'iu',
);

/** A request that addresses the assistant itself asks nothing about the world … */
const speaksToAnswerer = phrases('you', 'your', 'yours', 'yourself', 'u', 'du', 'dich', 'dir', 'dein(?:e[rnsm]?)?', 'ihnen');
/** … unless this only leads into a question about the world. */
const leadIn =
  /^["'(\s]*(?:(?:can|could|would|will|do) (?:you|u) (?:please |maybe |kindly )?(?:tell me|explain(?: to me)?|say|know|find out|look up|remind me|show me)|(?:please )?tell me|(?:kannst|könntest|würdest) du (?:mir )?(?:bitte )?(?:sagen|erklären|verraten)|weißt du|(?:bitte )?sag(?:e)? mir|i(?:'d| would) like to know|i want to know|ich (?:möchte|will|würde gern) wissen)[,\s]*/iu;

const askedOf = (text: string): string => text.replace(leadIn, '');

/** Whether the text asks for facts that can be looked up: about the world, not for written text, and not about the assistant. */
export function asksForFacts(text: string): boolean {
  const asked = askedOf(text);
  if (ordersWords.test(asked)) return false;
  return (asked !== text || asks.test(asked)) && !speaksToAnswerer.test(asked);
}

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

/** Whether it asks who, where, when, which or how many, or names a person, a thing or a year: neither a definition nor advice. */
export const asksAboutTheWorld = (text: string): boolean => {
  const asked = askedOf(text);
  return interrogative.test(asked) || /\d{3}/u.test(asked) || (namesIn(asked).length > 0 && !isGerman(asked));
};

const wordShape = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.&-]*/gu;

/** German capitalises every noun, so capitals do not indicate names. */
const isGerman = (text: string): boolean => languageOf(text.toLowerCase().match(/[\p{L}']+/gu) ?? []) === 'de';

/** Capitalised words that do not begin a sentence. */
export const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(wordShape)]
    .filter(({ 0: word, index }) => /^\p{Lu}/u.test(word) && !opensSentence(text, index) && !isSmall(word))
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

/** Words that say something about a subject. */
export const tellingWords = (text: string): readonly string[] => [
  ...new Set(
    [...askedOf(text).matchAll(wordShape)]
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
/** A thing described by another: "the town where …", "a film directed by …", "des Landes, in dem …". */
const described =
  /\p{L}\s+(?:who|whom|whose|which|where|that)\s+\p{L}|(?<!\p{L})(?:\p{L}+ed|born|made|built|known|written|set|held|won|led|sung|found)\s+(?:by|in|for|as|at|on|from|with|of|to)\s+\p{L}|,\s+(?:in |an |auf |aus |von |mit |zu |über )?(?:der|die|das|dem|den|deren|dessen|denen)\s+\p{L}/iu;
/** "the mother of the inventor of …", "the founder's home town"; German nouns are capitalised: "die Mutter des Erfinders der …". */
const relations = [
  /(?<!\p{L})of(?!\p{L})|(?<!(?<!\p{L})(?:what|who|where|when|how|why|that|there|here|it|he|she|let))['’]s\s+["'“„(]?[\p{L}\p{N}]|\p{L}s['’]\s+\p{L}/giu,
  /\p{Lu}\p{L}+\s+(?:des|der|vom|von)(?=\s+["'“„(]?[\p{L}\p{N}])/gu,
];
const attribute =
  /^["'(\s]*(?:(?:in|at|on|from|an|auf|aus|zu) )?(?:where|when|which|what \p{L}+ (?:did|does|do|was|were|has|had|is)|how \p{L}+|wo|woher|wann|welche[rnsm]?|wie (?:alt|hoch|groß|lang|viele?|heißt|hieß))(?!\p{L})/iu;

/** Whether a factual question needs more than one look-up, judged by its structure alone. */
export function isCompound(text: string): boolean {
  const asked = askedOf(text);
  const related = relations.reduce((sum, pattern) => sum + countOf(asked, pattern), 0);
  if (related >= 2) return true;
  if (described.test(asked) && (related >= 1 || attribute.test(asked))) return true;
  return (
    related >= 1 &&
    /^["'(\s]*(?:(?:in|at|on|from) )?(?:where|when|wo|wann|which \p{L}+ (?:did|does|was|is)|(?:in|aus|an) welche[rnm]? \p{L}+)(?!\p{L})/iu.test(
      asked,
    )
  );
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
/** Asks what two things have in common. */
const together = /(?<!\p{L})(?:both|same|in common|beide[rnsm]?|gleiche[rnsm]?|derselben?|dieselben?|dasselbe|gemeinsam)(?!\p{L})/iu;
const pair = /(?<!\p{L})(?:and|und|as|wie)(?!\p{L})/iu;

/** "Who is older, A or B?", "Are A and B of the same …?": both have to be looked up. */
export const comparesTwo = (text: string): boolean =>
  asks.test(text) && ((comparative.test(text) && alternatives.test(text)) || (together.test(text) && pair.test(text)));

/** Asks for something that changes with time, which a model does not know. */
export const asksForNow = phrases(...words.asksForNow);

/** A page or document that the user refers to. */
export const pointsAtSource = new RegExp(
  `https?://\\S+|${phrases('attached', 'attachment', 'the (?:document|file|handbook|manual|report|pdf|policy)', 'our (?:document|handbook|manual|policy|wiki|contract)s?', 'im anhang', 'angehängt*', 'anbei', '(?:das|dem|im|unser(?:em|en|e)?) (?:dokument|handbuch|bericht|pdf|richtlinie|wiki)', 'die datei', 'der datei').source}`,
  'iu',
);
