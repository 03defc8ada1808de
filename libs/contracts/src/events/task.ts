import * as z from 'zod';
import { defineEvent, type EventOf } from '../event.js';
import { Epoch } from '../ids.js';
import { ModelRef, RunLimits, Template } from '../template.js';
import {
  AnswerParameters,
  Attachment,
  Caller,
  Fact,
  FailureNote,
  Insight,
  Language,
  Outcome,
  Source,
  TextMessage,
  Timestamp,
  Unlearned,
  Usage,
  GapVerdict,
} from '../values.js';

/** How the results of sub-topics become one answer. */
export const Synthesis = z.enum(['merge', 'compare', 'rank']);
export type Synthesis = z.infer<typeof Synthesis>;

const ExpertAnswer = z.object({ category: z.string(), text: z.string(), confidence: z.number(), epoch: z.int() });

/** For a search that continues: hits of texts built from the question and the findings count as much as hits of its own query. */
const Further = z.object({
  question: z.string(),
  found: z.array(z.object({ title: z.string(), text: z.string() })).describe('the best findings so far, which the search leaves out'),
});
export type Further = z.infer<typeof Further>;

/** The input of a task. It is structured: the worker renders the prompt, so a recorded run stays valid when prompts change. */
export const TaskInput = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('expert'),
    category: z.string(),
    task: z.string(),
    goal: z.string(),
    conversation: z.array(TextMessage),
    system: z.string().nullable().describe("the client's system message, to be quoted"),
    prompt: z.string().describe('system prompt of the category'),
    evidence: z.array(Fact).describe('results of the tasks it needs, as quoted data'),
    hints: z.string().nullable().default(null).describe('what the judge wants improved, if the expert is asked again'),
    previous: z.string().nullable().default(null).describe('its earlier answer, if the expert is asked again'),
    attachments: z.array(Attachment).default([]),
    final: z.boolean().optional().describe("its reply may be the answer itself, so it follows the client's system message"),
    marked: z.boolean().optional().describe('false if its confidence is not needed'),
    parameters: AnswerParameters.optional().describe('parameters of the client, if its reply is the answer'),
    startedOn: z.string().optional().describe("the run's start date, YYYY-MM-DD"),
    language: Language.optional(),
  }),
  z.object({
    kind: z.literal('math'),
    task: z.string(),
    operation: z.string().nullable().describe('such as `solve`; null if the task describes it in words'),
    args: z.record(z.string(), z.unknown()),
  }),
  z.object({
    kind: z.literal('mcp'),
    task: z.string(),
    tool: z.string().describe('`server.tool`'),
    args: z.record(z.string(), z.unknown()),
    refused: z.string().optional().describe('why it is not called: the task fails with this sentence'),
    refusedAs: z.enum(['TOOL_UNKNOWN', 'TOOL_ARGUMENTS_INVALID']).optional().describe('code of that failure; absent: TOOL_UNKNOWN'),
  }),
  z.object({
    kind: z.literal('values'),
    values: z
      .record(z.string(), z.unknown())
      .describe('input of a judge or a capability, in the shape that its strategy or extension declares'),
  }),
  z.object({
    kind: z.literal('graph'),
    question: z.string(),
    categories: z.array(z.string()).describe('categories of the plan it serves'),
    filters: z.record(z.string(), z.string()).describe('`metadata_filters` of the plan'),
    maxCharacters: z.int().positive().describe('maximum length of the context it returns'),
  }),
  z.object({
    kind: z.literal('collections'),
    query: z.string(),
    collections: z.array(z.string()),
    filters: z.record(z.string(), z.string()),
    limit: z.int().positive().describe('chunks wanted per collection'),
    documents: z.array(z.string()).optional().describe('ids of the documents to search; absent: all'),
    further: Further.optional().describe('set in a later round'),
  }),
  z.object({
    kind: z.literal('discover'),
    query: z.string(),
    collections: z.array(z.string()),
    limit: z.int().positive().describe('documents wanted, of all collections together'),
  }),
  z.object({
    kind: z.literal('document'),
    collection: z.string(),
    document: z.string().describe('id of the document'),
    passage: z.int().nonnegative().describe('number of a chunk that the part read must contain'),
    maxCharacters: z.int().positive().describe('characters to read'),
  }),
  z.object({
    kind: z.literal('subtopic'),
    topic: z.string(),
    query: z.string(),
    goal: z.string().describe('question that the sub-topic is part of'),
    collections: z.array(z.string()),
    search: z.boolean().describe('whether documents or the web are searched too'),
    filters: z.record(z.string(), z.string()),
    limit: z.int().positive().describe('passages wanted per collection'),
  }),
  z.object({
    kind: z.literal('run'),
    goal: z.string().min(1),
    template: Template.describe('template of the child run'),
    children: z.record(z.string(), Template).describe('templates for child runs of the child'),
    limits: RunLimits.describe('limits of the parent, none of which the child may exceed'),
    caller: Caller,
    language: Language.optional(),
    unlearned: Unlearned.optional(),
  }),
  z.object({
    kind: z.literal('thinking'),
    question: z.string(),
    system: z.string().nullable(),
    facts: z.array(Fact),
    answers: z.array(ExpertAnswer),
  }),
  z.object({
    kind: z.literal('hints'),
    question: z.string(),
    answers: z.array(z.object({ taskId: z.string(), category: z.string(), task: z.string(), text: z.string(), gaps: z.array(z.string()) })),
  }),
  z.object({
    kind: z.literal('score'),
    question: z.string(),
    pairs: z.array(z.object({ taskId: z.string(), category: z.string(), task: z.string(), before: z.string(), after: z.string() })),
  }),
  z.object({
    kind: z.literal('critic'),
    question: z.string(),
    system: z.string().nullable(),
    answer: z.string(),
    facts: z.array(Fact),
    categories: z.array(z.string()),
    language: Language.optional(),
  }),
  z.object({
    kind: z.literal('research'),
    task: z.string(),
    query: z.string(),
    limit: z.int().positive().describe('results wanted'),
    further: Further.optional().describe('set in a later round; a web search does not use it'),
  }),
  z.object({
    kind: z.literal('gap'),
    question: z.string(),
    mode: z.enum(['answer', 'evidence']),
    draft: z.string().nullable().describe('the draft answer in answer mode'),
    facts: z.array(Fact),
    experts: z
      .array(
        z.object({
          category: z.string(),
          task: z.string(),
          confidence: z.number(),
          gaps: z.array(z.string()),
          answer: z.string().optional().describe('the beginning of its answer, if that says more than its fact'),
        }),
      )
      .optional()
      .describe('confidence of the experts, and what they could not answer'),
  }),
  z.object({
    kind: z.literal('synthesis'),
    question: z.string(),
    conversation: z.array(TextMessage),
    system: z.string().nullable().describe("the client's system message, verbatim"),
    facts: z.array(Fact),
    answers: z.array(ExpertAnswer),
    contradictions: z.array(z.string()).optional().describe('contradictory statements of experts, to be named in the answer'),
    thinking: z.string().nullable().default(null).describe('result of the thinking step'),
    failed: z
      .array(z.object({ capability: z.string(), task: z.string(), reason: z.string() }))
      .describe('tasks without a result, to be named'),
    undone: z
      .array(
        z.object({
          call: z.string().describe('`server.tool` and its arguments'),
          reason: z.string(),
          unsent: z.literal(true).optional().describe('it was certainly not made; absent if that is not known'),
        }),
      )
      .optional()
      .describe('failed calls that were to change something; a note below the answer names them'),
    openGap: z.string().nullable().describe('what is still missing, to be named in the answer'),
    topics: z
      .object({
        how: Synthesis,
        found: z.array(
          z.object({
            topic: z.string(),
            facts: z.array(z.int().positive()).describe('numbers of its facts in `facts`'),
            answer: z.string().optional().describe('answer of the run that worked on it'),
          }),
        ),
        empty: z.array(z.string()).describe('sub-topics about which nothing was found'),
        failed: z.array(z.object({ topic: z.string(), reason: z.string() })),
      })
      .optional()
      .describe('sub-topics of the question, and how they become one answer; the answer names those without a result'),
    parameters: AnswerParameters,
    startedOn: z.string().describe("the run's start date, YYYY-MM-DD"),
    language: Language.optional(),
    onlyKnown: z.boolean().optional().describe('numbers in brackets that cite no fact are removed'),
    unsourced: z
      .enum(['no_calls_left', 'no_plan', 'nothing_asked', 'all_failed', 'nothing_found'])
      .optional()
      .describe('why nothing was found to answer from; a sentence below the answer says it'),
  }),
]);
export type TaskInput = z.infer<typeof TaskInput>;
/** A task input before defaults are filled in. */
export type TaskInputDraft = z.input<typeof TaskInput>;

export const Allowance = z.object({
  calls: z.int().nonnegative(),
  tokens: z.int().nonnegative().describe('prompt and completion tokens'),
  cost: z.number().nonnegative().nullable(),
});
export type Allowance = z.infer<typeof Allowance>;

/** A capability token: caveats that limit what its task may do, and a signature over all of them. */
export const Permit = z.object({
  caveats: z.array(z.string()).describe('`name=value`; all must be met, and an unknown one never is'),
  signature: z.string().describe('base64url'),
});
export type Permit = z.infer<typeof Permit>;

export const TaskDispatched = defineEvent({
  type: 'TaskDispatched',
  topic: 'tasks.dispatched.<class>',
  key: 'task',
  from: ['merger'],
  to: ['experts', 'merger'],
  doc: 'One task of a committed plan is ready to run; any worker of its class may take it.',
  schema: z.object({
    taskId: z.string(),
    epoch: Epoch,
    capability: z.string(),
    input: TaskInput,
    models: z.array(ModelRef).describe('models to use, in order of preference; empty for capabilities without a model'),
    prices: z.record(z.string(), z.object({ input: z.number(), output: z.number() })),
    contexts: z.record(z.string(), z.int()),
    strategy: z.string(),
    tenant: z.string(),
    startBy: Timestamp.describe('a worker that receives it later answers without a call'),
    timeoutS: z.number().positive().describe('maximum seconds from start to end'),
    allowance: Allowance,
    stream: z.enum(['live', 'held']).describe('whether its text may be shown while it is written'),
    tier: z.enum(['t1', 't2', 'always']).default('t1').describe('which models of its category it asks'),
    detail: z.enum(['redacted', 'full']).default('redacted').describe('whether its prompt and raw reply go to the run stream'),
    cached: z.boolean().default(false).describe('whether results of earlier runs may be used'),
    prompts: z.record(z.string(), z.string()).default({}).describe('prompts of the template that replace shipped ones'),
    userInputs: z.array(z.string()).optional().describe('what the user said during the run, latest last'),
    permit: Permit.optional().describe('capability token of a task that calls a capability or a tool'),
  }),
});
export type TaskDispatched = EventOf<typeof TaskDispatched>;

export const TaskOutput = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('answer'),
    text: z.string().describe('without the CONFIDENCE, GAPS and REFER markers'),
    finding: z.string().describe('core finding in one or two sentences'),
    cutShort: z.boolean().optional().describe('true when the model stopped at its token limit, or was stopped because it repeated itself'),
  }),
  z.object({
    kind: z.literal('evidence'),
    facts: z.array(Fact),
    notes: z.array(z.string()).optional().describe('what a reader of the result must know, such as the program that calculated it'),
  }),
  z.object({
    kind: z.literal('values'),
    values: z.record(z.string(), z.unknown()).describe('output of a judge or a capability, in the shape that its strategy declares'),
  }),
  z.object({
    kind: z.literal('run'),
    runId: z.string(),
    outcome: Outcome,
    text: z.string().describe('its answer'),
    facts: z.array(Fact).describe('its ledger'),
  }),
  z.object({ kind: z.literal('thinking'), text: z.string() }),
  z.object({ kind: z.literal('hints'), hints: z.record(z.string(), z.string()).describe('task id -> what to improve') }),
  z.object({
    kind: z.literal('scores'),
    scores: z.array(z.object({ taskId: z.string(), before: z.number().min(0).max(1), after: z.number().min(0).max(1) })),
  }),
  z.object({
    kind: z.literal('critique'),
    verdict: z.enum(['confirmed', 'corrected', 'unparsable']),
    reasons: z.array(z.string()),
    text: z.string().nullable().describe('the corrected answer'),
  }),
  z.object({ kind: z.literal('assessment'), assessment: GapVerdict }),
  z.object({
    kind: z.literal('synthesis'),
    text: z.string().describe('what the user sees, sources included, insight stripped'),
    insight: Insight.nullable(),
    insightRejected: z.string().nullable().describe('why an existing block was invalid'),
    cutShort: z.boolean().describe('true when the model stopped at its token limit, or was stopped because it repeated itself'),
    unsupported: z
      .array(z.object({ n: z.int().positive(), sentence: z.string(), missing: z.array(z.string()) }))
      .optional()
      .describe('cited sentences with numbers or names that do not occur in their source; empty if no such source exists'),
  }),
]);
export type TaskOutput = z.infer<typeof TaskOutput>;

/**
 * Number of attempts reserved for a call, so that all of them order before those of the owner's next call. Each rebuild of the store uses
 * up 100.
 */
export const attemptsPerCall = 10_000;

export const ResultReady = defineEvent({
  type: 'ResultReady',
  topic: 'results.ready',
  key: 'run',
  from: ['experts', 'merger'],
  to: ['merger'],
  doc: 'The outcome of a task. The first effective one wins; a later one adds nothing to the answer.',
  schema: z.object({
    taskId: z.string(),
    epoch: Epoch,
    status: z.enum(['ok', 'error', 'timeout', 'cancelled', 'unsupported', 'unavailable']),
    output: TaskOutput.nullable().describe('set when status is ok'),
    confidence: z.number().min(0).max(1).nullable(),
    gaps: z.array(z.string()),
    refer: z.array(z.string()).describe('categories the expert refers to'),
    sources: z.array(Source),
    failure: FailureNote.nullable(),
    model: z.string().nullable().describe('model that answered, as `model@provider`'),
    usage: Usage,
    attempt: z.int().nonnegative().describe('attempt in the journal that made it, 0 without a call'),
    durationMs: z.int().nonnegative(),
  }),
});
export type ResultReady = EventOf<typeof ResultReady>;
