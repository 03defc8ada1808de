import * as z from 'zod';
import { StrategyId } from '../template.js';
import { defaultLimits, defaultTimeouts, evidenceCapabilities, safetyCritical, shippedStrategies } from './defaults.js';
import { CapabilityPolicies } from './policies.js';
import { ConfiguredModel } from './providers.js';

/**
 * Value of `model` that a client may send. Clients change their behaviour for names that contain `codex` or begin like a reasoning model,
 * so a template must not have such a name.
 */
export const TemplateId = z
  .string()
  .regex(/^(?!.*codex)(?!gpt-5)(?!o\d)[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/i)
  .meta({
    expected:
      'up to 64 letters, digits, `_`, `.`, `:` and `-`, without `codex` and not beginning with `gpt-5` or `o` and a digit: clients behave differently with those names',
  });

export const Category = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,39}$/)
  .meta({ expected: 'a category of small letters, digits and `_`, such as legal_advisor' });

const CapabilityName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,39}$/)
  .meta({ expected: 'the name of a capability, such as research' });

const oneOrMany = {
  model: ConfiguredModel.optional().describe('model to use'),
  models: z.array(ConfiguredModel).min(1).optional().describe('models to use, in order of preference'),
};

const PlannerSettings = z.strictObject({
  ...oneOrMany,
  prompt: z.string().min(1).optional().describe('file (or text of several lines) that replaces the shipped planner prompt'),
});
const JudgeSettings = z.strictObject(oneOrMany);

export const ExpertSettings = z.strictObject({
  t1: z
    .array(ConfiguredModel)
    .min(1)
    .optional()
    .describe('models tried first, in an order drawn from their scores; absent: the default models'),
  t2: z.array(ConfiguredModel).min(1).optional().describe('models asked when the first answer is unsure (confidence below 0.65)'),
  prompt: z.string().min(1).optional().describe('file (or text of several lines) with the system prompt of the category'),
  always: z.array(ConfiguredModel).min(1).optional().describe('models that always answer in addition to the first tier'),
});
export type ExpertSettings = z.infer<typeof ExpertSettings>;

const LimitSettings = z.strictObject({
  wall_time_s: z
    .number()
    .positive()
    .max(86_400)
    .optional()
    .describe(`seconds from acceptance to the terminal event; ${defaultLimits.wall_time_s} by default`),
  model_calls: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe(`model calls of a run, failed ones included; ${defaultLimits.model_calls} by default`),
  prompt_tokens: z
    .int()
    .min(1_000)
    .optional()
    .describe(
      `context guard: prompt tokens summed over every model call of the run itself, not of its child runs; ${defaultLimits.prompt_tokens} by default`,
    ),
  tokens: z
    .int()
    .min(1_000)
    .optional()
    .describe(`prompt and completion tokens summed over every model call; ${defaultLimits.tokens} by default`),
  cost: z
    .number()
    .positive()
    .nullable()
    .optional()
    .describe('currency units a run may cost; null = no cap, the default unless a shipped template uses a paid model'),
  concurrent_tasks: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe(`tasks of one run that are open at the same time; ${defaultLimits.concurrent_tasks} by default`),
});

const CacheSettings = z.strictObject({
  answer: z.boolean().default(true).describe('the same question again is answered from memory for 30 minutes'),
  semantic: z.boolean().default(false).describe('a reworded question is answered from memory for 7 days'),
  plan: z.boolean().default(true).describe('the first plan of a question is kept for 30 minutes'),
  search: z.boolean().default(true).describe('results of searches and of the knowledge graph are cached'),
});

/** A tool server, or one of its tools as `server.tool`. */
const ToolName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,200}$/)
  .meta({ expected: 'a name under `mcp`, or `server.tool`' });

export const TemplateSettings = z.strictObject({
  description: z.string().default('').describe('shown to clients and in lists'),
  strategy: StrategyId.default('agentic').describe(`kind of loop; built in: ${shippedStrategies.join(', ')}`),
  options: z.record(z.string(), z.unknown()).default({}).describe('options of the strategy; each strategy has its own'),
  split: z
    .strictObject({
      template: TemplateId.describe('template that answers these requests'),
      share: z.number().min(0).max(1).describe('share of the requests, 0 to 1; an equal request always goes the same way'),
    })
    .optional()
    .describe('sends a share of the requests for this template to another one, to compare them'),
  max_agentic_rounds: z.int().min(0).max(4).default(0).describe('re-plans after the first pass; 0 = off'),
  gap_check: z
    .enum(['answer', 'evidence'])
    .default('answer')
    .describe('what is assessed: the draft answer, or the evidence before an answer is written'),
  planner: PlannerSettings.default({}).describe('model that splits the question'),
  judge: JudgeSettings.default({}).describe('model that checks for gaps and writes the final answer'),
  experts: z.record(Category, ExpertSettings).default({}).describe('category -> models and prompt; `general` always exists'),
  capabilities: z
    .array(CapabilityName)
    .default(['research'])
    .describe(`evidence the planner may ask for; built in: ${evidenceCapabilities.join(', ')}`),
  local_only: z
    .boolean()
    .default(false)
    .describe(
      'true: no call of its runs leaves this machine or its network, utility prompts, embeddings and rerankers included; if the configuration contradicts this, the start fails',
    ),
  tools: z
    .array(ToolName)
    .optional()
    .describe(
      'tool servers, or tools as `server.tool`, that plans may call; absent = all servers. A tool that does not declare itself read-only must be listed by name, unless its server has `may_write`',
    ),
  policies: CapabilityPolicies.default({}).describe(
    'how capabilities and tools (as `server.tool`) may be used, by name; `*` means all others',
  ),
  caches: CacheSettings.default(CacheSettings.parse({})).describe('which questions may be answered from memory'),
  limits: LimitSettings.default({}).describe('what one run may use at most'),
  task_timeout_s: z
    .number()
    .min(1)
    .max(3600)
    .default(defaultTimeouts.task_timeout_s)
    .describe('maximum seconds of a task from start to end, including the wait for a free slot of its provider'),
  start_timeout_s: z
    .number()
    .min(1)
    .max(3600)
    .default(defaultTimeouts.start_timeout_s)
    .describe('maximum seconds a task waits for a worker'),
  planning_timeout_s: z
    .number()
    .min(1)
    .max(3600)
    .default(defaultTimeouts.planning_timeout_s)
    .describe('maximum seconds of the planner for one plan'),
  pause_timeout_s: z
    .number()
    .min(1)
    .max(86_400)
    .default(defaultTimeouts.pause_timeout_s)
    .describe('seconds a run may be paused before it ends with what it has'),
  answer_timeout_s: z
    .number()
    .min(1)
    .max(86_400)
    .default(defaultTimeouts.answer_timeout_s)
    .describe('seconds a run waits for an answer from the user, or for results of the tools of its client'),
  progress: z.enum(['reasoning', 'think', 'status', 'none']).default('reasoning').describe('how progress is shown to chat clients'),
  complexity: z
    .enum(['auto', 'trivial', 'moderate', 'complex'])
    .default('auto')
    .describe('auto: read from the question without a model call; trivial: one expert and nothing else'),
  thinking: z.boolean().default(false).describe('a thinking step before the answer to a complex question'),
  refine_rounds: z
    .int()
    .min(0)
    .max(2)
    .default(1)
    .describe('times an unsure expert is asked again with hints from the judge; only a better answer replaces the first'),
  critic: z
    .array(Category)
    .default([...safetyCritical])
    .describe('categories whose answers are reviewed before they are sent; [] = no review'),
  learn: z
    .enum(['off', 'insights', 'triples'])
    .default('insights')
    .describe('what a finished run adds to the knowledge graph; triples costs one model call after the answer'),
  client_tools: z
    .enum(['ask_first', 'pass_through', 'ignore'])
    .default('ignore')
    .describe(
      'what happens to the tools that a client sends: pass_through = the tool model answers and may call them; ask_first = the tool model is asked first whether it calls one, then the run answers, with the results if it does; ignore = they are not used, except that the only function that a client requires is the form of the answer',
    ),
  tool_model: ConfiguredModel.optional().describe('model that gets the tools of clients; absent: the first of `judge`'),
});
export type TemplateSettings = z.infer<typeof TemplateSettings>;

/** A field of a template without its default: absent means as in the file. */
const tunable = <T extends z.ZodType>(field: z.ZodDefault<T>) =>
  field
    .unwrap()
    .optional()
    .describe(field.description ?? '');

/**
 * The settings of a template that can be changed while the system runs, besides the options of its strategy. Absent ones stay as in the
 * file.
 */
export const TemplateTuning = z.strictObject({
  max_agentic_rounds: tunable(TemplateSettings.shape.max_agentic_rounds),
  refine_rounds: tunable(TemplateSettings.shape.refine_rounds),
  thinking: tunable(TemplateSettings.shape.thinking),
  task_timeout_s: tunable(TemplateSettings.shape.task_timeout_s),
  limits: LimitSettings.optional().describe('what one run may use at most'),
  planner: z.strictObject(oneOrMany).optional().describe('model that splits the question'),
  judge: JudgeSettings.optional().describe('model that checks for gaps and writes the final answer'),
  experts: z
    .record(Category, ExpertSettings.omit({ prompt: true }))
    .optional()
    .describe('category -> models'),
});
export type TemplateTuning = z.infer<typeof TemplateTuning>;
