import * as z from 'zod';
import { defineEvent, type EventOf } from '../event.js';
import { ModelRef } from '../template.js';
import {
  CacheHit,
  CacheKeys,
  Caller,
  Complexity,
  DeliveryTarget,
  Fact,
  FailureNote,
  PastRound,
  Insight,
  Outcome,
  Review,
  RuleId,
  Source,
  SpanId,
  Timestamp,
  Usage,
} from '../values.js';
import { KeptPlan } from './plan.js';

/** Contribution of one expert, for scores and for people. */
export const ExpertOutcome = z.object({
  taskId: z.string(),
  category: z.string(),
  model: z.string().nullable(),
  tier: z.enum(['t1', 't2', 'always']),
  confidence: z.number().min(0).max(1).nullable(),
  gaps: z.array(z.string()),
  status: z.string(),
});
export type ExpertOutcome = z.infer<typeof ExpertOutcome>;

export const RunCompleted = defineEvent({
  type: 'RunCompleted',
  topic: 'run.completed',
  key: 'run',
  from: ['merger'],
  to: ['graph-ingest', 'learning', 'webhooks'],
  doc: 'The only terminal event of a run. Caching, learning, ingestion and webhooks start from it.',
  schema: z.object({
    outcome: Outcome,
    rule: RuleId.nullable().describe('row of the decision table that ended it; null for an abort'),
    reason: z.string().describe('why it stopped, one sentence for people'),
    reasonCode: z.string().describe('closed code, such as `sufficient`, `assessment_unreadable`, `budget_model_calls`, `composer_failed`'),
    assessed: z
      .boolean()
      .optional()
      .describe('whether the last round was assessed with a readable verdict: without one nothing is cached or learned as assessed'),
    question: z.string(),
    answer: z.string().nullable().describe('null when cancelled or failed'),
    cutShort: z.boolean(),
    sources: z.array(Source),
    insight: Insight.nullable(),
    history: z.array(PastRound),
    rounds: z.int().nonnegative(),
    usage: Usage.describe('sum over every hidden model call that had ended by then'),
    openCalls: z
      .int()
      .nonnegative()
      .default(0)
      .describe('calls in flight when the run ended, such as by a cancel or a deadline: only CallRecorded contains their cost'),
    caller: Caller,
    template: z.object({
      id: z.string(),
      version: z.string(),
      strategy: z.string(),
      split_of: z.string().optional().describe('template that was asked for, if this one got the request as its share of a split'),
    }),
    complexity: Complexity.default('moderate'),
    cached: CacheHit.nullable().default(null).describe('cache that answered, and the run that the answer came from'),
    caching: CacheKeys.nullable().default(null),
    plan: KeptPlan.nullable().default(null).describe('first plan, if a model made it and it may be cached for an equal question'),
    experts: z.array(ExpertOutcome).default([]),
    review: Review.default('none').describe('verdict of the critic'),
    evidence: z.array(Fact).default([]).describe('facts the answer was written from, bounded'),
    learning: z
      .object({
        graph: z.enum(['off', 'insights', 'triples']),
        models: z.array(ModelRef),
        prices: z.record(z.string(), z.object({ input: z.number(), output: z.number() })),
        contexts: z.record(z.string(), z.int()),
      })
      .default({ graph: 'insights', models: [], prices: {}, contexts: {} })
      .describe('what the run may add to the knowledge graph, and the models that may be asked for it'),
    remember: z
      .object({
        kind: z.string().describe('strategy whose results they are'),
        results: z.array(z.object({ id: z.string(), text: z.string() })).describe('the answer, and the result of each step'),
      })
      .optional()
      .describe('results that later runs of the tenant may recall'),
    deliver: z.array(DeliveryTarget).optional().describe('webhooks that are notified of it'),
    failure: FailureNote.nullable(),
    parentSpan: SpanId.optional().describe("span of the client's request: the parent of the trace of the run"),
    startedAt: Timestamp,
    completedAt: Timestamp,
  }),
});
export type RunCompleted = EventOf<typeof RunCompleted>;

export const KnowledgeProposed = defineEvent({
  type: 'KnowledgeProposed',
  topic: 'knowledge.ingest',
  key: 'run',
  from: ['gateway'],
  to: ['graph-ingest', 'learning'],
  doc: 'A user adds knowledge (a document, a rating or a correction), or deletes a run and with it what was learned from it.',
  schema: z.object({
    kind: z.enum(['document', 'feedback', 'correction', 'erasure']),
    tenant: z.string(),
    actor: z.string(),
    text: z.string(),
    about: z.string().nullable().describe('id of the run or document it is about'),
    rating: z.int().min(1).max(5).nullable().default(null).describe('for feedback: 4-5 good, 1-2 bad, 3 neither'),
    document: z
      .object({
        collection: z.string(),
        id: z.string(),
        name: z.string(),
        mime: z.string(),
        blob: z.string().describe('content hash of the blob with its bytes'),
        metadata: z.record(z.string(), z.string()),
      })
      .nullable()
      .default(null),
    proposedAt: Timestamp,
  }),
});
export type KnowledgeProposed = EventOf<typeof KnowledgeProposed>;

/** An input of the engine as a step records it: every part of the event that a decision can depend on. */
const StepInput = z.object({
  id: z.string(),
  type: z.string(),
  time: Timestamp.describe('when the event was made'),
  data: z.unknown(),
});

export const StepRecorded = defineEvent({
  type: 'StepRecorded',
  topic: 'audit',
  key: 'run',
  from: ['merger'],
  to: ['replay'],
  doc: 'One step of the engine: its input, the time, the facts that followed, and its outputs.',
  schema: z.object({
    version: z.int().positive().describe('version of the state after the step'),
    input: StepInput,
    request: StepInput.optional().describe('the request of a run that was aborted before the request was applied'),
    now: Timestamp,
    facts: z
      .array(z.record(z.string(), z.unknown()))
      .describe('in order; a body that is the input of the step is written as `{ "input": true }`'),
    rule: RuleId.nullable(),
    ruleSentence: z.string().nullable(),
    outputs: z.array(z.object({ id: z.string(), type: z.string() })),
    hash: z
      .string()
      .describe(
        'SHA-256 over the hash of the step before, the input id, `now` and the facts, bodies by their own hash; first 32 hex digits',
      ),
    stateHash: z
      .string()
      .nullable()
      .describe('SHA-256 of the canonical JSON of the state at the end of the run, first 32 hex digits; null before'),
  }),
});
export type StepRecorded = EventOf<typeof StepRecorded>;

export const CallRecorded = defineEvent({
  type: 'CallRecorded',
  topic: 'audit',
  key: 'run',
  from: ['planner', 'experts', 'merger', 'gateway', 'graph-ingest'],
  to: ['replay'],
  doc: 'One model or tool call, with its request and its reply.',
  schema: z.object({
    step: z.string().describe('journal step: task and call index'),
    attempt: z.int().positive(),
    purpose: z.string().describe('capability that made it, such as `judge.gap`'),
    model: z.string().describe('`model@provider`, or the name of the tool'),
    reportedModel: z.string().nullable().describe('name of the model as the server reported it'),
    status: z.enum(['ok', 'error', 'cancelled', 'timeout']),
    requestHash: z.string().describe('SHA-256 of the canonical request'),
    request: z.unknown().describe('messages and parameters; null unless `store_prompts` is full'),
    reply: z.unknown().describe('reply; null unless `store_prompts` is full'),
    failure: FailureNote.nullable(),
    usage: Usage,
    caller: Caller.optional().describe(
      'caller of a call that a gateway made directly for a client; absent in a run, whose request contains it',
    ),
    startedAt: Timestamp,
    durationMs: z.int().nonnegative(),
    firstTokenMs: z.int().nonnegative().nullable(),
    retries: z
      .array(
        z.object({
          code: z.string().describe('failure of the try'),
          failedMs: z.int().nonnegative().describe('milliseconds from the start of the call to this failure'),
          waitMs: z.int().nonnegative().describe('milliseconds that the next try waited'),
        }),
      )
      .optional()
      .describe('tries of the call that failed and were repeated; absent if there were none'),
    repeated: z
      .int()
      .positive()
      .optional()
      .describe('characters that the model had repeated when its call was ended for that (`repetition_limit`); absent if it was not'),
  }),
});
export type CallRecorded = EventOf<typeof CallRecorded>;

export const LetterSettled = defineEvent({
  type: 'LetterSettled',
  topic: 'dead',
  key: 'run',
  from: ['transport'],
  to: ['replay'],
  doc: 'A decision about a dead letter. It is stored with the letters, so that a list can show the open ones.',
  schema: z.object({
    letter: z.string().describe('partition and offset of the letter on this topic, such as `3-17`'),
    action: z.enum(['redriven', 'discarded']),
    actor: z.string(),
    note: z.string().nullable(),
    settledAt: Timestamp,
  }),
});
export type LetterSettled = EventOf<typeof LetterSettled>;

export const SettingChanged = defineEvent({
  type: 'SettingChanged',
  topic: 'audit',
  key: 'run',
  from: ['gateway'],
  to: ['replay'],
  doc: 'A setting was changed while the system ran.',
  schema: z.object({
    setting: z.string(),
    actor: z.string(),
    before: z.unknown(),
    after: z.unknown(),
    version: z.int().positive(),
    changedAt: Timestamp,
  }),
});
export type SettingChanged = EventOf<typeof SettingChanged>;

export const RunErased = defineEvent({
  type: 'RunErased',
  topic: 'audit',
  key: 'run',
  from: ['gateway'],
  to: ['replay'],
  doc: 'A client has deleted an ended run. It does not come back, even if the state store is rebuilt.',
  schema: z.object({
    tenant: z.string(),
    actor: z.string().describe('who has deleted it'),
    requestedAt: Timestamp.describe('when the run was requested'),
    erasedAt: Timestamp,
  }),
});
export type RunErased = EventOf<typeof RunErased>;

export const DetailRead = defineEvent({
  type: 'DetailRead',
  topic: 'audit',
  key: 'run',
  from: ['gateway', 'transport'],
  to: ['replay'],
  doc: 'Prompts and raw replies were read: the events of a run, or an export of the audit. It is not part of the run, so it stays when the run is deleted.',
  schema: z.object({
    tenant: z.string().nullable().describe('whose runs were read; null for those of all tenants'),
    actor: z.string(),
    what: z.enum(['events', 'export']),
    run: z.string().nullable().describe('the run that was read; null for an export of several'),
    since: Timestamp.nullable().default(null).describe('for an export: start of its period'),
    until: Timestamp.nullable().default(null).describe('for an export: end of its period'),
    readAt: Timestamp,
  }),
});
export type DetailRead = EventOf<typeof DetailRead>;
