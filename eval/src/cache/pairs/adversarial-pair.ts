import { adversarialKinds, type AdversarialKind } from './kinds.js';
import { adversarialEnglish } from './adversarial-english.js';
import { adversarialGerman } from './adversarial-german.js';

export interface AdversarialPair {
  readonly first: string;
  readonly second: string;
  readonly language: 'en' | 'de';
  readonly kind: AdversarialKind;
}

/** None of them may be served by the cache. There are no halves: rules may be changed because of each of them. */
export const adversarialPairs: readonly AdversarialPair[] = adversarialKinds.flatMap((kind) =>
  (
    [
      ['en', adversarialEnglish],
      ['de', adversarialGerman],
    ] as const
  ).flatMap(([language, pairs]) => pairs[kind].map(([first, second]) => ({ first, second, language, kind }))),
);
