import * as z from 'zod';
import { defineFact } from './define-fact.js';

/** Fact of a run whose stored state this version cannot continue. The run ends in the same step. */
export const stateSetAside = defineFact(
  'StateSetAside',
  'What is stored of the run cannot be used by this version, mostly because another version stored it. Its strategy is no longer called, and the run ends.',
  {
    why: z.string().describe('the error that using it caused'),
    kept: z.boolean().describe('whether the state is kept for readers; false if not even its end can be added to it'),
  },
  ({ why }) => `What is stored of this run cannot be used by this version: ${why}`,
);
