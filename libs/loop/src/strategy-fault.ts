import { faultSentence } from '@conclave/contracts';

/**
 * A strategy did what no run can follow: it threw, or it returned something that is not allowed. Its run ends as failed and says so;
 * repeating the step would give the same, because a strategy is pure.
 */
export class StrategyFault extends Error {
  /** `where`: the function of the strategy, such as `next` or `judges.vote.take`. `why`: a sentence. */
  constructor(
    readonly strategy: string,
    readonly where: string,
    readonly why: string,
    cause?: unknown,
  ) {
    super(faultSentence({ strategy, where, why }), { cause });
  }
}
