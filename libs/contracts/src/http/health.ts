import { z } from 'zod';

export const Live = z.object({ status: z.literal('live') });
export const Readiness = z.object({
  status: z.enum(['ready', 'not_ready']),
  red: z.array(z.string()).describe('a sentence for everything that keeps it from working'),
});
export type Readiness = z.infer<typeof Readiness>;
