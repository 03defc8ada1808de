import * as z from 'zod';
import { RunId } from '../ids.js';
import { FailureNote, Outcome, RuleId, Source, Timestamp, Usage } from '../values.js';

/** Body of a webhook with the preset `json`: the end of a run. Its members have the names of `GET /v1/runs/{id}`. */
export const WebhookEvent = z.object({
  type: z.enum(['run.completed', 'run.failed', 'run.cancelled']).describe('run.completed: there is an answer, even if it is partial'),
  timestamp: z.iso.datetime().describe('end of the run'),
  data: z.object({
    id: RunId,
    template: z.object({ id: z.string(), version: z.string(), strategy: z.string() }),
    outcome: Outcome,
    rule: RuleId.nullable(),
    reason: z.string().describe('why it stopped, one sentence'),
    reasonCode: z.string(),
    question: z.string().nullable().describe('null unless `store_prompts` is full'),
    answer: z.string().nullable(),
    cutShort: z.boolean().describe('true if the model reached its limit within the answer'),
    truncated: z
      .boolean()
      .describe('true if the body would exceed `max_body_bytes`: sources are missing, the answer may be cut; GET /v1/runs/{id} has all'),
    sources: z.array(Source),
    usage: Usage,
    failure: FailureNote.nullable(),
    startedAt: Timestamp,
    completedAt: Timestamp,
  }),
});
export type WebhookEvent = z.infer<typeof WebhookEvent>;
