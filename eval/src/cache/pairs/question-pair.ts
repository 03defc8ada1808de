import { halfOf, type Half } from '../../halves.js';
import { changeKinds, type ChangeKind, type TwoQuestions } from './kinds.js';
import { changedEnglish, paraphrasedEnglish } from './english.js';
import { changedGerman, paraphrasedGerman } from './german.js';

export interface QuestionPair {
  readonly first: string;
  readonly second: string;
  readonly language: 'en' | 'de';
  /** Paraphrases may be served from the cache, all other pairs must not. */
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
