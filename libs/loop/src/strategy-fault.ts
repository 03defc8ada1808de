import { faultSentence } from '@conclave/contracts';

/**
 * A strategy threw an error, or returned something that is not allowed. Its run ends as failed, with this as the reason. Repeating the step
 * would not help, because a strategy is pure.
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
