import * as z from 'zod';
import { defineFact } from './define-fact.js';

interface Fault {
  readonly strategy: string;
  readonly where: string;
  readonly why: string;
}

export const faultSentence = ({ strategy, where, why }: Fault): string => `The strategy "${strategy}" failed in \`${where}\`: ${why}`;

/** The last fact but one of a run whose strategy, mostly that of an extension, did what no run can follow. */
export const strategyFailed = defineFact(
  'StrategyFailed',
  'The code of the strategy failed: it threw, or it returned what is not allowed. It decides nothing any more, and the run ends.',
  {
    strategy: z.string(),
    where: z.string().describe('its function, such as `next` or `judges.vote.take`'),
    why: z.string(),
  },
  faultSentence,
);
