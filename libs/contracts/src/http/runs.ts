import * as z from 'zod';
import { RunId } from '../ids.js';
import { RunLimits } from '../template.js';
import { CacheHit, Complexity, FailureNote, PastRound, Outcome, Review, RuleId, Source, Timestamp, Usage } from '../values.js';
import { answerFields, ChatMessage, endUserFields } from './chat.js';

/** Starts a run that outlives its client. `input` is shorthand for one user message. */
export const RunRequest = z
  .object({
    model: z.string({ error: 'must be the id of a template' }).min(1, { error: 'must be the id of a template' }),
    input: z.string({ error: 'must be a text' }).nullish().describe('the question; or send `messages`'),
    messages: z
      .array(ChatMessage, { error: 'must be a list of messages' })
      .min(1, { error: 'must contain at least one message' })
      .nullish()
      .describe('the conversation that ends with the question, instead of `input`'),
    webhook: z
      .union([z.string().min(1), z.object({ url: z.string().min(1).max(2_048) })], {
        error: 'must be the name of a configured webhook, or {"url": "https://..."}',
      })
      .nullish()
      .describe('who is notified of the end of the run: a configured webhook, or an address whose host the operator allows'),
    ...answerFields,
    response_format: z
      .looseObject({ type: z.string().meta({ enum: ['text', 'json_object', 'json_schema'] }) })
      .nullish()
      .describe('`text` or `json_object`; `json_schema` with `json_schema.strict` false, because the answer of a run is not checked'),
    ...endUserFields,
  })
  .meta({
    oneOf: [
      { required: ['input'], properties: { input: { type: 'string' } } },
      { required: ['messages'], properties: { messages: { type: 'array', items: {} } } },
    ],
  });
export type RunRequest = z.infer<typeof RunRequest>;

export const RunAccepted = z.object({
  object: z.literal('run'),
  id: RunId,
  status: z.literal('accepted'),
  template: z.string(),
  attached: z.boolean().describe('true if the request repeats an earlier one, whose run this is'),
  links: z.object({ self: z.string(), events: z.string(), commands: z.string() }),
});
export type RunAccepted = z.infer<typeof RunAccepted>;

/** Continues a run after one of its steps, as a new run: with the same facts up to that step, and live from then on. */
export const ForkRequest = z.object({
  step: z
    .int({ error: 'must be the number of a step' })
    .min(1, { error: 'must be 1 or more' })
    .describe('last step that both runs share; GET /v1/runs/{id}/facts numbers them'),
  model: z
    .string({ error: 'must be the id of a model or a template' })
    .min(1, { error: 'must be the id of a model or a template' })
    .nullish()
    .describe("model that makes every call from then on, or the template whose models do; by default today's models of the run's template"),
});
export type ForkRequest = z.infer<typeof ForkRequest>;

/** Asks the question of a run once more, as a new run with another template. */
export const RerunRequest = z.object({
  template: z
    .string({ error: 'must be the id of a template' })
    .min(1, { error: 'must be the id of a template' })
    .describe('id or alias of the template that answers'),
});
export type RerunRequest = z.infer<typeof RerunRequest>;

export const RunFactList = z.object({
  object: z.literal('list'),
  runId: RunId,
  data: z
    .array(
      z.object({
        step: z.int().positive().describe('step of the engine that it belongs to'),
        at: Timestamp.describe('time of the step'),
        kind: z.string(),
        sentence: z.string(),
        quiet: z.boolean().optional().describe('true if lists for people leave it out, because the facts around it say the same'),
      }),
    )
    .describe('in order'),
});
export type RunFactList = z.infer<typeof RunFactList>;

/** A step of the engine, or a call of a model or tool, as recorded on the log. */
export const RunRecord = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('step'),
    step: z.int().positive(),
    at: Timestamp,
    type: z.string().describe('type of the event that the step applied'),
    eventId: z.string(),
    rule: RuleId.nullable().describe('row of the decision table that the step applied'),
    sentence: z.string().nullable().describe('the rule in words, with its numbers'),
    outputs: z.array(z.object({ type: z.string(), id: z.string() })).describe('events that the step made'),
  }),
  z.object({
    kind: z.literal('call'),
    id: z.string(),
    step: z.string().describe('journal step: its owner and the number of the call'),
    owner: z.string().describe('task or plan that made it'),
    attempt: z.int().positive(),
    purpose: z.string().describe('capability that made it'),
    model: z.string().describe('`model@provider`, or the name of the tool'),
    reportedModel: z.string().nullable(),
    status: z.enum(['ok', 'error', 'cancelled', 'timeout']),
    superseded: z.boolean().describe('true if a later attempt of the same step replaced it'),
    startedAt: Timestamp,
    durationMs: z.int().nonnegative(),
    firstTokenMs: z.int().nonnegative().nullable(),
    usage: Usage,
    failure: FailureNote.nullable(),
    retries: z.int().nonnegative().describe('tries of the call that failed and were repeated'),
    repeated: z
      .int()
      .positive()
      .optional()
      .describe('characters that the model had repeated when its call was ended for that; absent if it was not'),
    bodies: z
      .enum(['readable', 'forbidden', 'not_kept'])
      .describe('whether this key may read its prompt and reply, and whether they were kept'),
  }),
]);
export type RunRecord = z.infer<typeof RunRecord>;

export const RunRecordList = z.object({
  object: z.literal('list'),
  runId: RunId,
  data: z.array(RunRecord).describe('by time, oldest first'),
});
export type RunRecordList = z.infer<typeof RunRecordList>;

export const CallBodies = z.object({
  object: z.literal('run.call'),
  runId: RunId,
  step: z.string(),
  attempt: z.int().positive(),
  request: z.string().describe('messages and parameters as JSON; the first 100,000 characters'),
  reply: z.string().describe('reply as JSON, or as text; the first 100,000 characters'),
  cut: z.boolean().describe('true if one of them is longer'),
});
export type CallBodies = z.infer<typeof CallBodies>;

export const RunListItem = z.object({
  object: z.literal('run'),
  id: RunId,
  template: z.string(),
  status: z.string().describe('phase while it runs, then the outcome'),
  terminal: z.boolean(),
  acceptedAt: Timestamp,
  question: z.string(),
});
export type RunListItem = z.infer<typeof RunListItem>;

export const RunList = z.object({
  object: z.literal('list'),
  data: z.array(RunListItem).describe('newest first'),
  nextBefore: Timestamp.nullable().describe('value of `before` for the next page; null on the last page'),
});
export type RunList = z.infer<typeof RunList>;

export const TaskView = z.object({
  id: z.string(),
  capability: z.string(),
  task: z.string().describe('instruction; for tasks of the judge, their purpose'),
  needs: z.array(z.string()),
  status: z.string().describe('`blocked`, `open`, or the status of its result'),
  superseded: z.boolean().optional().describe('true if a later or better result replaced it'),
  confidence: z.number().nullable(),
  model: z.string().nullable().describe('model that answered, as `model@provider`'),
  facts: z.int().nonnegative().describe('facts it added'),
  gaps: z.array(z.string()),
  call: z
    .object({ tool: z.string(), args: z.record(z.string(), z.unknown()), result: z.string().nullable() })
    .optional()
    .describe('for a tool: its name, arguments and result, the last one cut after 4,000 characters'),
  notes: z.array(z.string()).optional().describe('what the result itself does not show, such as a source that did not answer'),
  usage: Usage,
  durationMs: z.int().nonnegative().nullable(),
  failure: FailureNote.nullable(),
});
export type TaskView = z.infer<typeof TaskView>;

export const RoundView = z.object({
  epoch: z.int().nonnegative().describe('0 = first pass, then the number of the re-plan'),
  fallback: z.boolean().describe('true if a single general task replaced an unusable plan'),
  planned: z.boolean().default(true).describe('false: there was no plan, such as for the answer of a run that had too little for one'),
  planUsage: Usage.describe("the planner's own calls"),
  plan: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('other parts of the plan: for `waves` its status, action, slots and reasoning'),
  tasks: z.array(TaskView).describe("the plan's tasks and the judge's, in the order they were made"),
});
export type RoundView = z.infer<typeof RoundView>;

export const DecisionView = z.object({ epoch: z.int().nonnegative(), rule: RuleId, sentence: z.string(), at: Timestamp });
export type DecisionView = z.infer<typeof DecisionView>;

/** A command that reached the run. A command that was accepted but did not reach it had no effect, because the run had ended. */
export const CommandView = z.object({
  seq: z.int(),
  command: z.string(),
  actor: z.string(),
  at: Timestamp,
  status: z.enum(['accepted', 'applied', 'rejected']),
  round: z.int().nullable().describe('round in which it was applied'),
  reason: z.string().nullable().describe('why it was rejected'),
});
export type CommandView = z.infer<typeof CommandView>;

/** A run for people: the question, the plan, the results, the deciding rule, the cost. */
export const RunView = z.object({
  object: z.literal('run'),
  id: RunId,
  template: z.object({ id: z.string(), version: z.string(), strategy: z.string() }),
  status: z.string().describe('`accepted`, the phase while it runs, then the outcome'),
  terminal: z.boolean(),
  outcome: Outcome.nullable(),
  rule: RuleId.nullable(),
  reason: z.string().nullable().describe('why it stopped, one sentence'),
  reasonCode: z.string().nullable(),
  question: z.string(),
  answer: z.string().nullable(),
  cutShort: z.boolean(),
  complexity: Complexity.nullable().default(null).describe('complexity level of the question; null until it is known'),
  cached: CacheHit.nullable().default(null).describe('cache that answered, and the run that the answer came from'),
  assessed: z
    .boolean()
    .nullable()
    .default(null)
    .describe('whether the last round was assessed with a readable verdict; null until the run has ended'),
  review: Review.nullable().default(null).describe('what the critic said; null until the run has ended'),
  sources: z.array(Source),
  evidence: z
    .array(
      z.object({
        n: z.int().positive().describe('number of the source'),
        taskId: z.string().describe('task that found it'),
        text: z.string().describe('what it says; the first 600 characters'),
      }),
    )
    .default([])
    .describe('what the cited sources say, at most three passages each'),
  steps: z
    .object({
      done: z.array(z.string()).describe('tasks of steps that have begun, oldest first'),
      ahead: z
        .array(z.object({ capability: z.string(), input: z.string(), reason: z.string() }))
        .describe('steps of the held plan that have not begun, in order'),
      memory: z.string().describe('the working memory'),
      scores: z.array(z.number()).describe('means of the scores of the steps so far, 1 to 5, oldest first'),
    })
    .nullable()
    .default(null)
    .describe('for a run that works step by step, such as one of `reasoning`'),
  fork: z
    .object({
      of: RunId.describe('run that this one continues'),
      step: z.int().describe('last step of that run that both share'),
      before: Usage.describe('part of `usage.total` that the other run had spent by then'),
    })
    .nullable()
    .default(null)
    .describe('set if this run is a fork of another one'),
  rounds: z
    .array(RoundView)
    .describe(
      'one for each plan with its tasks; also one for tasks of a run without a plan. Strategies that hold a plan take several rounds with it',
    ),
  roundsUsed: z
    .int()
    .nonnegative()
    .default(0)
    .describe('rounds that count against the limit of rounds, as in the decisions and at the end of the run'),
  history: z.array(PastRound),
  decisions: z.array(DecisionView),
  otherRules: z
    .array(z.object({ rule: RuleId, sentence: z.string() }))
    .default([])
    .describe('for an ended run: the rules of the decision table that did not end it, each with its numbers at that time'),
  takes: z.array(z.string()).default([]).describe('commands that runs of its strategy accept'),
  commands: z.array(CommandView).default([]).describe('in order of arrival'),
  waitsFor: z
    .object({ question: z.string(), deadline: Timestamp })
    .nullable()
    .default(null)
    .describe('question that the run waits for the user to answer'),
  usage: z.object({
    total: Usage.describe('usage at the end of the run, or so far'),
    inFlight: z
      .object({ tasks: z.int().nonnegative(), calls: z.int().nonnegative(), tokens: z.number().nonnegative(), cost: z.number().nullable() })
      .default({ tasks: 0, calls: 0, tokens: 0, cost: null })
      .describe('open tasks, and the most that they may still spend, which `total` does not include'),
    openCalls: z.int().nonnegative().default(0).describe('calls in flight when it ended: `total` does not include their cost'),
    recorded: Usage.nullable()
      .default(null)
      .describe(
        'sum of the usage ledger over every model call of the run itself, without its child runs, including calls that ended after it, calls to learn from it, and calls of a process that stopped',
      ),
    items: z.array(
      z.object({
        owner: z.string().describe('plan or task id; id of the run for its plans that came to nothing'),
        capability: z.string(),
        model: z.string().nullable(),
        usage: Usage,
      }),
    ),
  }),
  limits: RunLimits,
  failure: FailureNote.nullable(),
  acceptedAt: Timestamp,
  startedAt: Timestamp.nullable(),
  completedAt: Timestamp.nullable(),
});
export type RunView = z.infer<typeof RunView>;

export const RunErasedView = z.object({
  id: RunId,
  object: z.literal('run'),
  deleted: z.literal(true),
  log: z
    .enum(['gone', 'kept'])
    .describe('`gone`: no record of the run on the log can be read any more; `kept`: they stay until their retention ends'),
  forks: z.array(RunId).describe('forks of it, which were deleted with it'),
  open_forks: z.array(RunId).describe('forks that have not ended and were kept: delete the run again after their end to delete them'),
  gone_by: Timestamp.nullable().describe('when the last record of the run on the log is gone; null if all are gone now'),
  message: z.string().describe('what is gone now and what only later, in one sentence'),
});
export type RunErasedView = z.infer<typeof RunErasedView>;

/** Maximum characters of a command's text. */
export const longestCommandText = 20_000;

const text = z
  .string({ error: 'must be a text' })
  .min(1, { error: 'must not be empty' })
  .max(longestCommandText, { error: `must not be longer than ${longestCommandText} characters` });
export const CommandRequest = z.discriminatedUnion(
  'command',
  [
    z.object({ command: z.literal('cancel'), reason: z.string().nullish() }),
    z.object({ command: z.literal('pause') }),
    z.object({ command: z.literal('resume') }),
    z.object({ command: z.literal('steer'), text }),
    z.object({ command: z.literal('add_context'), text }),
    z.object({ command: z.literal('override_step'), skill: text, input: text }),
    z.object({ command: z.literal('answer'), text }),
  ],
  { error: 'must be "cancel", "pause", "resume", "steer", "add_context", "override_step" or "answer"' },
);
export type CommandRequest = z.infer<typeof CommandRequest>;
/** Commands that a client may send to a run. A strategy declares which of them its runs accept. */
export type CommandName = CommandRequest['command'];

export const CommandAccepted = z.object({
  object: z.literal('run.command'),
  runId: RunId,
  seq: z.int().positive().describe('number of the command, under which the stream reports it as applied or rejected'),
  command: z.string(),
  status: z.literal('accepted'),
});
export type CommandAccepted = z.infer<typeof CommandAccepted>;

/** First event of `/v1/runs/{id}/events` if the reader asks for an id that the stream does not contain. */
export const SnapshotShape = z.object({
  kind: z.literal('snapshot'),
  runId: RunId,
  first: z.int().nonnegative().describe('first id in the stream, 0 if it has expired'),
  last: z.int().nonnegative().describe('the snapshot replaces everything up to this id'),
  status: z.string(),
  text: z.string().describe('answer text so far'),
});
