import { halfOf, type Half } from '../../halves.js';
import { changedEnglish, paraphrasedEnglish } from './english.js';
import { changedGerman, paraphrasedGerman } from './german.js';

/** What was changed so that the old answer is wrong for the new question. */
export const changeKinds = [
  'number',
  'date',
  'name',
  'negation',
  'unit',
  'direction',
  'scope',
  'language',
  'opposite',
  'question',
] as const;
export type ChangeKind = (typeof changeKinds)[number];

export type TwoQuestions = readonly [asked: string, again: string];

export interface QuestionPair {
  readonly first: string;
  readonly second: string;
  readonly language: 'en' | 'de';
  /** Paraphrases may be served from the cache, everything else must not. */
  readonly kind: 'paraphrase' | ChangeKind;
  readonly half: Half;
}

const pairs = (language: 'en' | 'de', kind: QuestionPair['kind'], written: readonly TwoQuestions[]): readonly QuestionPair[] =>
  written.map(([first, second], position) => ({ first, second, language, kind, half: halfOf(position) }));

export const questionPairs: readonly QuestionPair[] = [
  ...pairs('en', 'paraphrase', paraphrasedEnglish),
  ...pairs('de', 'paraphrase', paraphrasedGerman),
  ...changeKinds.flatMap((kind) => [...pairs('en', kind, changedEnglish[kind]), ...pairs('de', kind, changedGerman[kind])]),
];
