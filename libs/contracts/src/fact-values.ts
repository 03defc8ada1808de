import * as z from 'zod';
import { PlannedTask } from './events/plan.js';
import { Insight, Outcome, RuleId, Source } from './values.js';

/** How a run ends, once a row of the decision table or a limit has decided it. */
export const Ending = z.object({
  outcome: Outcome,
  rule: RuleId.nullable().describe('row of the decision table; null for an abort and a cached answer'),
  reason: z.string().describe('one sentence for people'),
  reasonCode: z.string(),
});
export type Ending = z.infer<typeof Ending>;

/** A written answer that is not published yet. */
export const Draft = z.object({
  text: z.string(),
  sources: z.array(Source),
  insight: Insight.nullable(),
  cutShort: z.boolean(),
  epoch: z.int(),
  unsupported: z
    .array(z.object({ n: z.int(), sentence: z.string(), missing: z.array(z.string()) }))
    .optional()
    .describe('cited sentences with numbers or names that do not occur in their source'),
  unwritten: z.string().optional().describe('why no model wrote it: it was assembled from the findings'),
});
export type Draft = z.infer<typeof Draft>;

/** What a strategy reports about its state before the decision table reads it. */
export const Reading = z.object({
  sufficient: z.boolean().optional(),
  by: z
    .enum(['assessment', 'planner', 'model', 'rounds'])
    .describe('origin: a gap check, the planner, the deciding model, or `rounds` if no round is left or none was assessed'),
  ends: z.string().optional().describe('why nothing more is done, if that is not what `by` said: a sentence without its full stop'),
  unread: z.enum(['failed', 'unreadable']).optional().describe('why `sufficient` is only the fallback of the gap check'),
  open: z.string().optional().describe('what is still missing'),
  nextFocus: z.string().optional(),
  held: z.int().nonnegative().optional().describe('tasks of the plan that are not released yet'),
  question: z.string().optional().describe('a question that only the user can answer'),
  unaffordable: z.string().optional().describe('the step that the budget leaves no model call for'),
  confidence: z.number().min(0).max(1).optional().describe('confidence in `sufficient`'),
  failed: z.boolean().optional().describe('whether the round counts as failed; absent: it does if tasks ran and none succeeded'),
  circling: z.string().optional().describe('why the strategy regards the run as oscillating'),
  invalid: z.boolean().optional().describe('true if the reply of the deciding model could not be read'),
  model: z.enum(['continue', 'adjust', 'stuck']).optional().describe('what the deciding model wants'),
});
export type Reading = z.infer<typeof Reading>;

const score = z.number().min(1).max(5);
/** How good the result of a step is, by four criteria. */
export const Rubric = z.object({ relevance: score, completeness: score, usability: score, goal_progress: score });
export type Rubric = z.infer<typeof Rubric>;

/** A task requested by a strategy. */
export const RequestedTask = z.object({
  spec: PlannedTask.omit({ id: true }).extend({ id: z.string().describe('id inside its plan, unique in its epoch') }),
  action: z
    .object({
      capability: z.string(),
      argument: z.string(),
      exact: z.boolean().optional(),
      once: z.boolean().optional().describe('may have side effects: never repeated, whatever the outcome of the first call'),
    })
    .nullable()
    .describe('what it does, for comparison with other tasks; null = never a repeat'),
  models: z.array(z.string()).describe('models it may call, in order of preference; empty if it calls none'),
  learn: z.enum(['settled', 'accepted', 'never']).describe('when its facts join the memory of the run'),
  stream: z.enum(['live', 'held']),
  composes: z.boolean().optional().describe('its text is the answer'),
  timeoutS: z.number().positive().optional().describe('maximum seconds it may run; absent: those of the template'),
  calls: z.int().positive().optional().describe('maximum model calls, if the task itself makes calls'),
  from: z.literal('reserve').optional().describe('may use the last part of the budget'),
  tier: z.enum(['t1', 't2', 'always']).optional(),
  origin: z.string().optional().describe('id of the task in the same round that it was derived from'),
  again: z.string().optional().describe('task whose answer was unsure, if an expert is asked again'),
  hints: z.string().optional().describe('what the judge wants improved'),
});
export type RequestedTask = z.infer<typeof RequestedTask>;

export const RefusedWhy = z.enum(['known', 'near', 'exhausted', 'once', 'narrow', 'budget', 'cancelled']);
export type RefusedWhy = z.infer<typeof RefusedWhy>;

export const refusals: Readonly<Record<RefusedWhy, string>> = {
  known: 'Answered from what is already known.',
  near: 'Dropped: says the same as an earlier action.',
  exhausted: 'Dropped: failed twice before.',
  once: 'Not called again: the same call failed before and may have changed something.',
  narrow: 'Dropped: most of the budget is used, so nothing is started beside the first task.',
  budget: 'The budget of the run leaves no model call for this task.',
  cancelled: 'It was no longer needed.',
};
