import { SafetyTopic } from '@conclave/contracts';
import { analysisIn, partsOf } from './analysis.js';
import { bothEnds } from './both-ends.js';
import { withoutCourtesy, withoutQuotes } from './courtesy.js';
import { asksAboutTheWorld, asksForFacts, asksForNow, asksToBeTold, comparesTwo, isCompound, isDense } from './lookup.js';
import { markers } from './markers.js';
import { countWords, phrases } from './phrases.js';
import { isUnread } from '../unread.js';
import lists from '../assets/complexity.json' with { type: 'json' };

const safetyTopics = SafetyTopic.options;

export type ComplexityLevel = 'trivial' | 'moderate' | 'complex';

export interface ComplexityEstimate {
  readonly level: ComplexityLevel;
  /** Findings as stable codes in rule order: `words>=80`, `domain:law`, `number`, `lookup:hops`. */
  readonly signals: readonly string[];
  /** The expert category of the first marker; null if there is none. */
  readonly category: string | null;
  /** Topics on which a wrong answer does harm: the answer is reviewed, whatever the plan says. */
  readonly safety: readonly SafetyTopic[];
  /** Whether documents or learned facts may contain the answer. */
  readonly factual: boolean;
  /** Whether it is about the world (who, where, when, a name, a year) rather than a plain definition. */
  readonly worldly: boolean;
}

export interface ComplexityContext {
  /** The text has earlier turns. */
  readonly hasHistory: boolean;
  readonly hasAttachments: boolean;
  /** Earlier turns of the user, oldest first: topics on which a wrong answer does harm continue in a follow-up that does not name them. */
  readonly earlier?: readonly string[];
}

/**
 * How many earlier turns of the user are read for topics on which a wrong answer does harm. In the 833 follow-ups of TREC CAsT 2019 to 2021, 50 of
 * 112 such topics are in the follow-up itself, 70 in it or one turn before, 87 within three, 91 within five; three add 5 % of reviews.
 */
const rememberedTurns = 3;
/** Categories of requests that stand for themselves: a poem after a question about a medicine is not about it. */
const standsAlone: ReadonlySet<string> = new Set(['creative_writer', 'translation', 'agentic_coder']);

/** A text of this many words is always complex. */
const manyWords = 80;
/** Maximum words of a single short question. */
const shortWords = 15;

/** Questions without a number that a precision tool answers exactly; in others the number is the sign (knowledge-and-tools.md). */
const forTool = phrases(...lists.forTool);
/** A Roman numeral, but not a word of the same letters ("Mill", "civil"). */
const numeral = /(?<![\p{L}\p{N}])(?=[MDCLXVI]{4})M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?![\p{L}\p{N}])/u;

/** Marks that end a sentence in other scripts, as ours. A Greek question mark is a semicolon, which would end a line of code. */
const withOurMarks = (text: string): string =>
  (/\p{Script=Greek}{3}/u.test(text) ? text.replace(/;(?=\s|$)/gu, '?') : text)
    .replace(/[？؟]/gu, '? ')
    .replace(/[。।]/gu, '. ')
    .replaceAll('！', '! ');

/** Collapses blanks (slow to match); keeps newlines, which mark code. */
const withFoldedBlanks = (text: string): string => text.replace(/[^\S\n]+/gu, ' ').replace(/ ?\n[ \n]*/gu, '\n');

/**
 * How much machinery a request needs, determined without a model. Reads English and German; a request in another language is at least
 * moderate, because its topic and its dangers are not seen. Takes time linear in the length of the text; words are only examined up to 3,000 characters.
 */
export function complexityOf(text: string, { hasHistory, hasAttachments, earlier = [] }: ComplexityContext): ComplexityEstimate {
  const request = requestIn(text);
  const spoken = withoutQuotes(request);
  const words = countWords(text, manyWords);
  const asked = countWords(request, manyWords);
  const found = markers.filter(({ pattern }) => pattern.test(spoken));

  const analysis = analysisIn(spoken);
  const unread = isUnread(spoken);
  const isFactual = unread || asksForFacts(request);
  const isContinued = hasHistory && leansOnHistory(request, words);
  const category = found[0]?.category ?? null;
  const isAlone = request === '' || (category !== null && standsAlone.has(category) && !isContinued);
  const before = new Set(isAlone ? [] : earlier.slice(-rememberedTurns).flatMap(safetyIn));
  const raised = [
    ...(unread ? ['language:unread'] : []),
    ...found.filter(({ raises }) => raises).map(({ name }) => `domain:${name}`),
    ...(/\p{N}/u.test(spoken) ? ['number'] : []),
    ...(forTool.test(spoken) || numeral.test(spoken) ? ['tool'] : []),
    ...(isFactual && isCompound(request) ? ['lookup:hops'] : []),
    ...(isFactual && isDense(request) ? ['lookup:dense'] : []),
    ...(comparesTwo(spoken) ? ['lookup:comparison'] : []),
    ...(asksForNow.test(spoken) ? ['lookup:now'] : []),
    ...(hasAttachments ? ['context:attachment'] : []),
    ...(isContinued ? ['context:history'] : []),
    ...[...before].map((topic) => `history:${topic}`),
    ...analysis.signals,
    ...(partsOf(spoken) >= 1 ? ['parts>=2'] : []),
    ...(asked >= shortWords ? [`words>=${shortWords}`] : []),
  ];
  const isLong = words >= manyWords;
  const level = isLong || analysis.isComplex ? 'complex' : raised.length > 0 ? 'moderate' : 'trivial';
  const looksAtPicture = hasAttachments && /(?<!\p{L})(?:photo|picture|image|screenshot|foto|bild|grafik)/iu.test(spoken);
  return {
    level,
    signals: [...new Set([...(isLong ? [`words>=${manyWords}`] : []), ...raised])],
    category: looksAtPicture ? 'vision' : category,
    safety: safetyTopics.filter((topic) => before.has(topic) || found.some(({ name }) => name === topic)),
    factual: isFactual,
    worldly: unread || ((isFactual || asksToBeTold.test(request)) && asksAboutTheWorld(request)),
  };
}

/** What is asked, without courtesies; of a long text both ends. */
const requestIn = (text: string): string => withoutCourtesy(withFoldedBlanks(withOurMarks(bothEnds(text).normalize('NFC'))));

/** Topics of a turn on which a wrong answer does harm. */
function safetyIn(turn: string): readonly SafetyTopic[] {
  const spoken = withoutQuotes(requestIn(turn));
  return safetyTopics.filter((topic) => markers.some(({ name, pattern }) => name === topic && pattern.test(spoken)));
}

const backward = phrases(...lists.backward);

/** Whether a follow-up depends on earlier turns: it refers back, or is too short to stand alone. Courtesy alone does not depend on them. */
const leansOnHistory = (request: string, words: number): boolean =>
  /[\p{L}\p{N}]/u.test(request) && (words <= 3 || (words <= 25 && backward.test(request)));
