import * as z from 'zod';
import { defineEvent, type EventOf } from '../event.js';
import { Epoch, LocalTaskId, RunId } from '../ids.js';
import { RunLimits, Template } from '../template.js';
import {
  AnswerParameters,
  Attachment,
  CachedAnswer,
  Caller,
  CacheKeys,
  ClientToolResult,
  ClientToolsAsked,
  Complexity,
  DeliveryTarget,
  FailureNote,
  Language,
  QuotedDocument,
  PastRound,
  Memory,
  SafetyTopic,
  SpanId,
  TextMessage,
  Timestamp,
  Unlearned,
  Usage,
} from '../values.js';

export const PlannedTask = z.object({
  id: LocalTaskId,
  capability: z.string().describe('`expert.<category>` or an evidence capability such as `research`'),
  task: z.string().min(1).describe('instruction for the expert or capability'),
  query: z.string().nullable().describe('search query of a research task'),
  needs: z.array(z.string()).describe('ids of tasks of the same plan whose results it waits for'),
  tool: z.string().nullable().optional().describe('tool of an `mcp` task as `server.tool`, operation of a `math` task'),
  args: z.record(z.string(), z.unknown()).nullable().optional().describe('its arguments'),
  metadata_filters: z.record(z.string(), z.string()).nullable(),
  redoes: z.array(z.string()).optional().describe('earlier tasks that it repeats, as `<epoch>/<id>` or the bare id of the latest'),
});
export type PlannedTask = z.infer<typeof PlannedTask>;

/** A plan as the plan cache stores it: the parts that its planner would produce again. */
export const KeptPlan = z.object({
  complexity: Complexity,
  signals: z.array(z.string()),
  tasks: z.array(PlannedTask).min(1),
  searchQuestion: z.string().nullable(),
});
export type KeptPlan = z.infer<typeof KeptPlan>;

/** The start of a run that continues another run after one of its steps. */
export const Fork = z.object({
  of: RunId.describe('run that this one continues'),
  step: z.int().positive().describe('step of that run after which this one continues by itself'),
  ranMs: z.number().nonnegative().describe('milliseconds that the clock of that run had counted by then'),
  facts: z
    .array(z.record(z.string(), z.unknown()))
    .describe('facts of that run up to the step, with the ids of this run; open tasks count as not dispatched'),
  again: z
    .array(z.record(z.string(), z.unknown()))
    .describe('what that run was waiting for: the plan it awaited, or the question it had asked'),
});
export type Fork = z.infer<typeof Fork>;

export const PlanRequested = defineEvent({
  type: 'PlanRequested',
  topic: 'plan.requested',
  key: 'run',
  from: ['gateway', 'merger'],
  to: ['merger', 'planner'],
  doc: 'A run was accepted: the immutable goal, the conversation and the resolved template it will use to its end.',
  schema: z.object({
    goal: z.string().min(1).describe("the user's words: text of the last user message"),
    conversation: z.array(TextMessage).describe('earlier turns, oldest first, without system messages'),
    system: z.string().nullable().describe("the client's system message, verbatim"),
    template: Template,
    limits: RunLimits.describe("the template's limits, lowered by the request"),
    caller: Caller,
    answer: AnswerParameters,
    origin: z.enum(['chat', 'runs']).describe('endpoint that received it; a chat run ends when its client disconnects'),
    requestedAt: Timestamp,
    language: Language.optional(),
    attachments: z.array(Attachment).optional(),
    documents: z
      .array(QuotedDocument)
      .optional()
      .describe('documents that the messages quote under the numbers 1, 2, …: the first facts of the run, under the same numbers'),
    unlearned: Unlearned.optional(),
    skill: z
      .object({ name: z.string(), arguments: z.string(), version: z.int().nonnegative() })
      .nullable()
      .optional()
      .describe("skill that made the goal from the user's words"),
    complexity: Complexity.nullable().optional().describe('complexity level that the request asks for'),
    cached: CachedAnswer.nullable().optional().describe('cached answer, found before the run was accepted: nothing is planned then'),
    plan: KeptPlan.nullable()
      .optional()
      .describe('cached first plan of an equal question, found before the run was accepted: no model makes one then'),
    caching: CacheKeys.nullable().optional().describe('where the answer and the plan may be cached; null = nowhere'),
    detail: z.enum(['redacted', 'full']).optional().describe('whether prompts and raw replies go to the run stream'),
    clientTools: ClientToolsAsked.optional().describe('reply of the tool model, if the template asks it first'),
    children: z
      .record(z.string(), Template)
      .optional()
      .describe('templates for child runs of this run and of its child runs, by id, as they were when it was accepted'),
    parentSpan: SpanId.optional().describe("span of the client's request: the parent of the trace of the run"),
    retryKey: z.string().optional().describe('hash by which a repeat of the request finds this run'),
    deliver: z.array(DeliveryTarget).optional().describe('webhooks that are notified of its end'),
    fork: Fork.optional().describe('for a fork: the run that it continues, and the facts of that run'),
  }),
});
export type PlanRequested = EventOf<typeof PlanRequested>;

export const PlanCreated = defineEvent({
  type: 'PlanCreated',
  topic: 'plan.created',
  key: 'run',
  from: ['planner'],
  to: ['merger'],
  doc: 'A plan for one round, or the reason why no plan was possible.',
  schema: z.object({
    epoch: Epoch,
    complexity: Complexity,
    signals: z.array(z.string()).default([]).describe('why this level was chosen'),
    safety: z
      .array(SafetyTopic)
      .default([])
      .describe('topics of the question on which a wrong answer does harm: the answer is always reviewed'),
    cached: z.boolean().default(false).describe('true when the plan came from the plan cache'),
    choices: z
      .record(z.string(), z.array(z.string()))
      .default({})
      .describe(
        'category -> first-tier models in the order they are tried: drawn from their scores here, so that decisions stay deterministic',
      ),
    tasks: z.array(PlannedTask).describe('empty if `failure` is set, or if the strategy allows a plan without tasks'),
    searchQuestion: z.string().nullable().describe('standalone question for follow-ups, or null'),
    fallback: z.boolean().describe('true if every reply of the model was unusable and a single general task replaces the plan'),
    reAsks: z.int().nonnegative().describe('times the model was asked again with the validation error'),
    failure: FailureNote.nullable(),
    usage: Usage,
    content: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('other parts of the plan, defined by its strategy: for `waves` its status, action, slots and reasoning'),
  }),
});
export type PlanCreated = EventOf<typeof PlanCreated>;

/** Result of a task of an earlier round, as the next plan sees it. */
export const EarlierResult = z.object({
  id: z.string().describe('`<epoch>/<id>`, by which a task of the next plan may say that it repeats this one'),
  capability: z.string(),
  task: z.string(),
  confidence: z.number().min(0).max(1).nullable().describe('of an expert'),
  gaps: z.array(z.string()).describe('what the expert said it could not answer'),
});
export type EarlierResult = z.infer<typeof EarlierResult>;

export const GapDetected = defineEvent({
  type: 'GapDetected',
  topic: 'gap.detected',
  key: 'run',
  from: ['merger'],
  to: ['planner'],
  doc: 'Something is still missing: the planner makes the plan of the next round. This event closes the loop.',
  schema: z.object({
    epoch: Epoch.describe('round that ended with the gap; the new plan has epoch + 1'),
    iteration: z.int().positive().describe('n of "iteration n of max", the first re-plan is 1'),
    max: z.int().positive(),
    gap: z.string(),
    nextFocus: z.string(),
    history: z.array(PastRound),
    memory: Memory,
    results: z.array(EarlierResult).optional().describe('answers and tool results that are current, latest first'),
    first: z.boolean().optional().describe('the strategy has no plan yet: it took the run over from another one'),
    strategy: z.string().optional().describe('strategy that asks; absent: that of the template'),
    asked: z.record(z.string(), z.unknown()).optional().describe('input of the planner of the strategy, if the strategy has its own'),
    forbidden: z.array(z.string()).describe('tried actions that must not be planned again'),
    left: z
      .object({
        model_calls: z.int(),
        tokens: z.int(),
        wall_time_s: z.number(),
        cost: z.number().optional().describe('absent if the run has no limit of cost, and in older records'),
      })
      .describe('what is left of the budget'),
  }),
});
export type GapDetected = EventOf<typeof GapDetected>;

export const CommandIssued = defineEvent({
  type: 'CommandIssued',
  topic: 'run.commands',
  key: 'run',
  from: ['gateway', 'merger', 'transport'],
  to: ['merger'],
  doc: 'A client steers a run. Commands are applied in the order of `seq`, and acknowledged as accepted, then as applied or rejected.',
  schema: z.object({
    seq: z.int().nonnegative(),
    actor: z.string(),
    issuedAt: Timestamp,
    key: z.string().optional().describe('hash of the Idempotency-Key of its sender: a repeat has no effect'),
    command: z.discriminatedUnion('name', [
      z.object({ name: z.literal('cancel'), reason: z.string() }),
      z.object({ name: z.literal('pause') }),
      z.object({ name: z.literal('resume') }),
      z.object({ name: z.literal('steer'), text: z.string().min(1) }),
      z.object({ name: z.literal('add_context'), text: z.string().min(1) }),
      z.object({ name: z.literal('override_step'), skill: z.string(), input: z.string() }),
      z.object({
        name: z.literal('answer'),
        text: z.string().min(1),
        results: z.array(ClientToolResult).optional().describe('results of the tools of the client for which the run waits'),
      }),
      z.object({ name: z.literal('detach') }),
      z.object({ name: z.literal('attach') }),
      z.object({ name: z.literal('abort'), reason: z.string().describe('why an engine or planner record of this run is a dead letter') }),
    ]),
  }),
});
export type CommandIssued = EventOf<typeof CommandIssued>;

export const TimerFired = defineEvent({
  type: 'TimerFired',
  topic: 'run.timers',
  key: 'run',
  from: ['merger'],
  to: ['merger'],
  doc: 'A run has reached the earliest moment at which time alone changes it. A timer that was replaced has another arm number and is ignored.',
  schema: z.object({
    runId: RunId,
    arm: z.int().nonnegative().describe('how often the timer of the run was set up to this one'),
    dueAt: Timestamp,
    firedAt: Timestamp,
    tasks: z
      .array(
        z.object({
          taskId: z.string(),
          started: z.boolean().describe('a worker has begun it'),
          liveWorkers: z.int().nonnegative().describe('live workers of its class'),
        }),
      )
      .describe('open tasks whose start or end deadline has passed'),
  }),
});
export type TimerFired = EventOf<typeof TimerFired>;
