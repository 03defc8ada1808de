import * as z from 'zod';

export const Live = z.object({ status: z.literal('live') });
export const Readiness = z.object({
  status: z.enum(['ready', 'not_ready']),
  red: z
    .array(z.string())
    .optional()
    .describe('a sentence for everything that keeps it from working; where keys are asked for, a key with the role admin alone sees it'),
});
export type Readiness = z.infer<typeof Readiness>;
