import * as z from 'zod';
import { defineFact } from './define-fact.js';

interface Fault {
  readonly strategy: string;
  readonly where: string;
  readonly why: string;
}

export const faultSentence = ({ strategy, where, why }: Fault): string => `The strategy "${strategy}" failed in \`${where}\`: ${why}`;

/** Fact of a run whose strategy, mostly that of an extension, failed. The run ends in the same step. */
export const strategyFailed = defineFact(
  'StrategyFailed',
  'The code of the strategy failed: it threw an error, or returned something that is not allowed. It is no longer called, and the run ends.',
  {
    strategy: z.string(),
    where: z.string().describe('function of the strategy, such as `next` or `judges.vote.take`'),
    why: z.string(),
  },
  faultSentence,
);
