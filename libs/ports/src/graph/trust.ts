/** Weight of what a relation was read from: how much of a confidence is believed before anybody confirmed it. */
export const sourceWeights = { curated: 1, tool: 0.9, document: 0.8, web: 0.7, answer: 0.6, correction: 0.3 } as const;
export type TripleSource = keyof typeof sourceWeights;

export interface Evidence {
  /** Probability that every run that said so was wrong: the product of (1 - confidence x source weight) over these runs. */
  readonly doubt: number;
  /** Good and bad ratings of the runs that said so. */
  readonly good: number;
  readonly bad: number;
}

/** What is left of the doubt after a good rating, and of the trust after a bad one. */
const afterGood = 0.75;
const afterBad = 0.5;

export const doubtOf = (confidence: number, source: TripleSource): number => 1 - confidence * sourceWeights[source];

/**
 * Trust, 0 to 1, four digits: (1 - doubt x 0.75^good) x 0.5^bad.
 * For one run without ratings this is confidence x source weight. Another run that says the same multiplies the doubts, as for
 * independent witnesses (noisy or). It is a function of counts, so the order in which records arrive does not matter.
 */
export const trustOf = ({ doubt, good, bad }: Evidence): number =>
  Math.round((1 - doubt * afterGood ** good) * afterBad ** bad * 10_000) / 10_000;

/** More bad ratings than good ones: it is kept, and no retrieval gives it. */
export const isFlagged = ({ good, bad }: Pick<Evidence, 'good' | 'bad'>): boolean => bad > good;

/** The same for a synthesis, whose confidence stands for its one source. */
export const synthesisTrust = ({ confidence, good, bad }: { confidence: number; good: number; bad: number }): number =>
  trustOf({ doubt: 1 - confidence, good, bad });
