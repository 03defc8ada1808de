import * as z from 'zod';
import { Source, Timestamp } from '../values.js';

/** An insight of the knowledge graph with what it was learned from. */
export const InsightView = z.object({
  object: z.literal('insight'),
  id: z.string().describe('as sources of answers name it in `insight.id`'),
  text: z.string(),
  insight_type: z.string(),
  domain: z.string().describe('category of the expert that was surest of the answer'),
  entities: z.array(z.string()),
  confidence: z.number().describe('0 to 1, as the run ended'),
  trust: z.number().describe('0 to 1, with what people rated since'),
  flagged: z.boolean().describe('rated badly: no later answer is given it'),
  learned_from: z
    .array(
      z.object({
        run: z.string(),
        at: Timestamp.nullable().describe('when the run was completed; null for what was learned before this was kept'),
        answer: z.string().nullable().describe('beginning of its answer'),
        sources: z.array(Source).describe('what the answer was given from'),
      }),
    )
    .describe('runs that taught it, the earliest first'),
});
export type InsightView = z.infer<typeof InsightView>;

export const InsightList = z.object({ object: z.literal('list'), data: z.array(InsightView) });
export type InsightList = z.infer<typeof InsightList>;
