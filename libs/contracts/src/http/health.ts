import * as z from 'zod';

export const Live = z.object({ status: z.literal('live') });
export const Readiness = z.object({
  status: z.enum(['ready', 'not_ready']),
  red: z
    .array(z.string())
    .optional()
    .describe('a sentence for each problem; if keys are configured, only a key with the role admin sees them'),
  extensions: z
    .array(z.object({ kind: z.enum(['strategy', 'capability']), name: z.string(), version: z.string().describe('version of its module') }))
    .optional()
    .describe('strategies and capabilities of extensions in this process, for callers that may see `red`; absent without extensions'),
});
export type Readiness = z.infer<typeof Readiness>;
