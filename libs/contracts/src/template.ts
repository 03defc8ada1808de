import * as z from 'zod';
import { CapabilityPolicies } from './configuration/policies.js';

/** Name of a kind of loop. The strategies' package defines which exist, not the contract. */
export const StrategyId = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/)
  .meta({ expected: 'small letters, digits and `-`, such as agentic' });
export type StrategyId = z.infer<typeof StrategyId>;

export const ModelRef = z
  .string()
  .regex(/^\S+@[A-Za-z0-9_.-]+$/)
  .describe('a model of a provider, written `model@provider`');

/** Limits of a run. Requests may lower a limit, never raise it. */
export const RunLimits = z.object({
  wall_time_s: z.number().positive().describe('seconds from acceptance to the terminal event'),
  model_calls: z.int().positive().describe('model calls, failed ones too'),
  prompt_tokens: z
    .int()
    .positive()
    .describe('context guard: prompt tokens summed over every model call of the run; each child run has its own'),
  tokens: z.int().positive().describe('prompt and completion tokens summed over every model call'),
  cost: z.number().positive().nullable().describe('currency units, null if the models have no price'),
  concurrent_tasks: z.int().positive().describe('tasks of one run that are open at the same time'),
});
export type RunLimits = z.infer<typeof RunLimits>;

export const ExpertProfile = z.object({
  t1: z.array(ModelRef).min(1).describe('models tried first, in this order'),
  t2: z.array(ModelRef).optional().describe('models asked when the answer of the first tier is unsure'),
  always: z
    .array(ModelRef)
    .optional()
    .describe('models that always answer in addition to the first tier; their answers are never dropped as duplicates'),
  prompt: z.string().describe('system prompt of this category'),
});
export type ExpertProfile = z.infer<typeof ExpertProfile>;

/** A server's tool as a planner sees it. */
export const ToolOffer = z.object({
  name: z.string().describe('`server.tool`'),
  description: z.string(),
  signature: z.string().describe('its arguments in one line, such as `expression: string, digits?: integer`'),
  repeatable: z.boolean().optional().describe('whether a second call with the same arguments changes nothing more; absent: unknown'),
  readOnly: z.boolean().optional().describe('whether it declares itself read-only'),
});
export type ToolOffer = z.infer<typeof ToolOffer>;

export const CollectionOffer = z.object({ name: z.string(), description: z.string() });
export type CollectionOffer = z.infer<typeof CollectionOffer>;

/**
 * A template with every default filled in: a run uses it unchanged from its first event to its last. Optional fields are absent in the
 * first recorded runs; a template resolved by this version has all of them.
 */
export const Template = z.object({
  id: z.string().describe('what a client sends as `model`'),
  version: z.string().describe('hash of the resolved template'),
  description: z.string(),
  strategy: StrategyId,
  options: z.record(z.string(), z.unknown()).optional().describe('options of the strategy, with its defaults filled in'),
  split: z
    .object({ template: z.string(), share: z.number().min(0).max(1) })
    .optional()
    .describe('another template that gets a share of the requests for this one'),
  split_of: z.string().optional().describe('template that was asked for, if this one got the request as its share of a split'),
  local_only: z.boolean().optional().describe('whether its runs call only model servers on this machine or in its network'),
  max_agentic_rounds: z.int().min(0).max(4).describe('re-plans after the first pass'),
  gap_check: z.enum(['answer', 'evidence']),
  planner: z.object({ models: z.array(ModelRef).min(1), prompt: z.string().nullable().describe('replaces the shipped planner prompt') }),
  judge: z.object({ models: z.array(ModelRef).min(1) }),
  experts: z.record(z.string(), ExpertProfile).describe('category -> profile; `general` always exists'),
  capabilities: z.array(z.string()).describe('evidence capabilities offered to the planner, such as `research`'),
  tools: z.array(ToolOffer).optional().describe('tools that `mcp` tasks may name'),
  collections: z.array(CollectionOffer).optional().describe('document collections that may be searched'),
  client_tools: z
    .enum(['ask_first', 'pass_through'])
    .optional()
    .describe('what happens to tools that a client offers; absent: they are ignored'),
  tool_model: ModelRef.optional().describe('model that gets the tools of clients'),
  policies: CapabilityPolicies.optional().describe('policies of capabilities and tools by name; absent: the defaults'),
  complexity: z.enum(['auto', 'trivial', 'moderate', 'complex']).optional().describe('fixed level, or `auto`; absent: moderate'),
  thinking: z.boolean().optional().describe('a thinking step before the synthesis of complex questions'),
  refine_rounds: z.int().min(0).max(2).optional().describe('times an unsure expert is asked again with hints from the judge'),
  critic: z
    .object({ categories: z.array(z.string()) })
    .optional()
    .describe('categories whose answers are reviewed before they are sent'),
  caches: z
    .object({ answer: z.boolean(), semantic: z.boolean(), plan: z.boolean(), search: z.boolean() })
    .optional()
    .describe('which caches may be used; absent: none'),
  learn: z
    .enum(['off', 'insights', 'triples'])
    .optional()
    .describe('what a finished run adds to the knowledge graph; `triples` costs one model call after the answer'),
  prompts: z.record(z.string(), z.string()).optional().describe('prompt name -> text that replaces the shipped one'),
  classes: z.record(z.string(), z.string()).describe('capability (or its first word) -> task class'),
  limits: RunLimits,
  task_timeout_s: z
    .number()
    .positive()
    .describe('maximum seconds of a task from start to end, including the wait for a free slot of its provider'),
  start_timeout_s: z.number().positive().describe('maximum seconds a task waits for a worker'),
  planning_timeout_s: z.number().positive().describe('maximum seconds of the planner for one plan'),
  pause_timeout_s: z.number().positive().optional().describe('seconds a run may be paused; absent: an hour'),
  answer_timeout_s: z
    .number()
    .positive()
    .optional()
    .describe('seconds a run waits for an answer from the user, or for results of the tools of its client; absent: 15 minutes'),
  progress: z.enum(['reasoning', 'think', 'status', 'none']),
  prices: z
    .record(z.string(), z.object({ input: z.number().nonnegative(), output: z.number().nonnegative() }))
    .describe('model ref -> currency units per million tokens'),
  contexts: z.record(z.string(), z.int().positive()).describe('model ref -> context length in tokens, if known'),
});
export type Template = z.infer<typeof Template>;
