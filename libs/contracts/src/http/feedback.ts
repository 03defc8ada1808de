import * as z from 'zod';
import { RunId } from '../ids.js';

/** Longest correction, in characters. */
export const longestCorrection = 4_000;

export const FeedbackRequest = z.object({
  response_id: z
    .string({ error: 'must be the id of a run or of a chat completion' })
    .min(1, { error: 'must be the id of a run or of a chat completion' })
    .max(128, { error: 'must be the id of a run or of a chat completion' })
    .describe('id of the run, or of its answer in any API: `chatcmpl-...`, `msg_...`, `resp_...`, `cmpl-...`'),
  rating: z
    .int({ error: 'must be a whole number from 1 to 5' })
    .min(1, { error: 'must be a whole number from 1 to 5' })
    .max(5, { error: 'must be a whole number from 1 to 5' })
    .describe('4 and 5 good, 1 and 2 bad, 3 neither'),
  correction: z
    .string({ error: 'must be a text' })
    .max(longestCorrection, { error: `must have at most ${longestCorrection} characters` })
    .nullish()
    .describe('what the answer should have said'),
});
export type FeedbackRequest = z.infer<typeof FeedbackRequest>;

export const FeedbackAccepted = z.object({
  object: z.literal('feedback'),
  run: RunId,
  rating: z.int(),
  correction: z.boolean().describe('whether it includes a correction'),
});
export type FeedbackAccepted = z.infer<typeof FeedbackAccepted>;
