import * as z from 'zod';
import { Source, Timestamp } from '../values.js';

/** An insight of the knowledge graph with its origins. */
export const InsightView = z.object({
  object: z.literal('insight'),
  id: z.string().describe('id in `insight.id` of the sources of an answer'),
  text: z.string(),
  insight_type: z.string(),
  domain: z.string().describe('category of the expert with the highest confidence in the answer'),
  entities: z.array(z.string()),
  confidence: z.number().describe('0 to 1, at the end of the run'),
  trust: z.number().describe('0 to 1, including later ratings'),
  flagged: z.boolean().describe('rated badly: later answers do not use it'),
  learned_from: z
    .array(
      z.object({
        run: z.string(),
        at: Timestamp.nullable().describe('when the run ended; null if learned before this was recorded'),
        answer: z.string().nullable().describe('beginning of its answer'),
        sources: z.array(Source).describe('sources of the answer'),
      }),
    )
    .describe('runs it was learned from, oldest first'),
});
export type InsightView = z.infer<typeof InsightView>;

export const InsightList = z.object({ object: z.literal('list'), data: z.array(InsightView) });
export type InsightList = z.infer<typeof InsightList>;
