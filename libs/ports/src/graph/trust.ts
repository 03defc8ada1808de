/** Weight of a relation's source: how much of a confidence is believed before any confirmation. */
export const sourceWeights = { curated: 1, tool: 0.9, document: 0.8, web: 0.7, answer: 0.6, correction: 0.3 } as const;
export type TripleSource = keyof typeof sourceWeights;

export interface TripleEvidence {
  /** Probability that every run that stated it was wrong: the product of (1 - confidence x source weight) over these runs. */
  readonly doubt: number;
  /** Good and bad ratings of the runs that stated it. */
  readonly good: number;
  readonly bad: number;
}

/** Factor on the doubt per good rating, and on the trust per bad one. */
const afterGood = 0.75;
const afterBad = 0.5;

export const doubtOf = (confidence: number, source: TripleSource): number => 1 - confidence * sourceWeights[source];

/**
 * Trust, 0 to 1, four digits: (1 - doubt x 0.75^good) x 0.5^bad. For one run without ratings this is confidence x source weight. Another
 * run that states the same multiplies the doubts, as for independent witnesses (noisy or). It depends on counts only, so the order in which
 * records arrive does not matter.
 */
export const trustOf = ({ doubt, good, bad }: TripleEvidence): number =>
  Math.round((1 - doubt * afterGood ** good) * afterBad ** bad * 10_000) / 10_000;

/** More bad ratings than good ones: kept, but excluded from every retrieval. */
export const isFlagged = ({ good, bad }: Pick<TripleEvidence, 'good' | 'bad'>): boolean => bad > good;

/** Trust of a synthesis, whose confidence replaces the source weight. */
export const synthesisTrust = ({ confidence, good, bad }: { confidence: number; good: number; bad: number }): number =>
  trustOf({ doubt: 1 - confidence, good, bad });
