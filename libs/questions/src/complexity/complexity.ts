import { SafetyTopic } from '@conclave/contracts';
import { analysisIn, complexFrom, moderateFrom, partsOf } from './analysis.js';
import { withoutCourtesy, withoutQuotes } from './courtesy.js';
import { asksAboutTheWorld, asksForFacts, asksForNow, comparesTwo, isCompound, isDense, pointsAtSource } from './lookup.js';
import { markers } from './markers.js';
import { countWords, phrases } from './phrases.js';
import { precisionQuestions } from './precision.js';
import words from '../assets/leaning.json' with { type: 'json' };

const safetyTopics = SafetyTopic.options;

export type ComplexityLevel = 'trivial' | 'moderate' | 'complex';

export interface Complexity {
  readonly level: ComplexityLevel;
  /** What was found, as stable codes in the order of the rules: `words>=80`, `domain:law`, `tool:date`, `lookup:hops`. */
  readonly signals: readonly string[];
  /** The expert category that the first marker names; null when none does. */
  readonly category: string | null;
  /** Topics on which a wrong answer does harm: whatever a plan says, the answer is reviewed. */
  readonly safety: readonly SafetyTopic[];
  /** Whether something is asked that may stand in documents or in what was learned. */
  readonly factual: boolean;
  /** Whether that is about the world (who, where, when, a name, a year) and no plain definition. */
  readonly worldly: boolean;
}

export interface ComplexityContext {
  /** Earlier turns come with the text. */
  readonly hasHistory: boolean;
  readonly hasAttachments: boolean;
}

/** moe.md, Complexity: from here on a text is complex whatever it says. */
const manyWords = 80;
/** Beyond that a single short question has become something else. */
const shortWords = 15;
/** A long text is read at both ends: people put the task before or after what they paste. */
const readAtStart = 2_000;
const readAtEnd = 1_000;

/** What is read of a text: all of a short one. */
export const bothEnds = (text: string): string =>
  text.length <= readAtStart + readAtEnd ? text : `${text.slice(0, readAtStart)}\n${text.slice(-readAtEnd)}`;

/** Long runs of blanks are cheap to send and dear to match. Line ends stay: code is told by them. */
const withFoldedBlanks = (text: string): string => text.replace(/[^\S\n]+/gu, ' ').replace(/ ?\n[ \n]*/gu, '\n');

/**
 * How much machinery a request needs, without a model (moe.md, Complexity). Reads English and German; in other languages only
 * length, notation and numbers count. Time grows linearly with the text, and the words themselves are looked at up to 3,000 characters.
 */
export function complexityOf(text: string, { hasHistory, hasAttachments }: ComplexityContext): Complexity {
  const whole = bothEnds(text);
  const request = withoutCourtesy(withFoldedBlanks(whole.normalize('NFC')));
  const spoken = withoutQuotes(request);
  const words = countWords(text, manyWords);
  const asked = countWords(request, manyWords);
  const found = markers.filter(({ pattern }) => pattern.test(spoken));

  const analysis = analysisIn(spoken);
  const isFactual = asksForFacts(request);
  const raised = [
    ...found.filter(({ raises }) => raises).map(({ name }) => `domain:${name}`),
    ...precisionQuestions.filter(({ pattern }) => pattern.test(spoken)).map(({ name }) => `tool:${name}`),
    ...(isFactual && isCompound(request) ? ['lookup:hops'] : []),
    ...(isFactual && isDense(request) ? ['lookup:dense'] : []),
    ...(comparesTwo(spoken) ? ['lookup:comparison'] : []),
    ...(asksForNow.test(spoken) ? ['lookup:now'] : []),
    ...(pointsAtSource.test(request) ? ['lookup:source'] : []),
    ...(hasAttachments ? ['context:attachment'] : []),
    ...(hasHistory && leansOnHistory(request, words) ? ['context:history'] : []),
    ...analysis.signals.filter((signal) => signal === 'analysis:comparison' || signal === 'aspects:enumerated'),
    ...(partsOf(spoken) >= 1 ? ['parts>=2'] : []),
    ...(asked >= shortWords ? [`words>=${shortWords}`] : []),
  ];
  const isLong = words >= manyWords;
  const level =
    isLong || analysis.score >= complexFrom ? 'complex' : raised.length > 0 || analysis.score >= moderateFrom ? 'moderate' : 'trivial';
  const looksAtPicture = hasAttachments && /(?<!\p{L})(?:photo|picture|image|screenshot|foto|bild|grafik)/iu.test(spoken);
  return {
    level,
    signals: [...new Set([...(isLong ? [`words>=${manyWords}`] : []), ...analysis.signals, ...raised])],
    category: looksAtPicture ? 'vision' : (found[0]?.category ?? null),
    safety: safetyTopics.filter((topic) => found.some(({ name }) => name === topic)),
    factual: isFactual,
    worldly: isFactual && asksAboutTheWorld(request),
  };
}

const backward = phrases(...words.backward);

/** A follow-up that is not understood alone: it points back, or is too short to stand by itself. Courtesy alone asks nothing. */
const leansOnHistory = (request: string, words: number): boolean =>
  /[\p{L}\p{N}]/u.test(request) && (words <= 3 || (words <= 25 && backward.test(request)));
