import * as z from 'zod';
import { WebhookName } from '../values.js';
import { CapabilityPolicies, CapabilityPolicy } from './policies.js';
import { ConfiguredModel } from './providers.js';

const tiers = ['local', 'light', 'medium', 'heavy'] as const;
const modelsOf = (tier: string) =>
  z.array(ConfiguredModel).min(1).optional().describe(`models of the tier ${tier}, in order of preference`);
const promptFor = (phase: string) => z.string().max(20_000).default('').describe(`prompt that ${phase}; empty = the shipped one`);

/** Steps are slow and run one after another. A run that makes more calls than this, or three failed ones in a row, is off course. */
const stepPolicy = CapabilityPolicy.parse({ rate: { calls: 10, per_s: 60 }, breaker: { failures: 3, open_s: 300, counts: 'errors' } });

/** Options of the strategy `reasoning`: the section `reasoning` of the file, and `options` of its templates. */
export const ReasoningOptions = z.strictObject({
  enabled: z.boolean().default(true).describe('false: the template is not offered'),
  llm_tier: z.enum(tiers).default('local').describe('which models of `tiers` plan, score and decide'),
  tiers: z
    .strictObject({
      local: modelsOf('local'),
      light: modelsOf('light'),
      medium: modelsOf('medium'),
      heavy: modelsOf('heavy'),
    })
    .default({})
    .describe('tier -> models; the planner and judge of the template where the tier is absent'),
  max_iterations: z.int().min(1).max(100).default(15).describe('maximum number of rounds, which run one step each'),
  max_llm_calls: z.int().min(1).max(1_000).default(60).describe('model calls of a run, failed ones too'),
  capability_whitelist: z
    .array(z.string().min(1))
    .min(1)
    .default(['research', 'collections', 'graph', 'math', 'read_only_tools'])
    .describe(
      'capabilities that steps may use: names, tools as `server.tool`, and `read_only_tools` for all tools that declare themselves read-only',
    ),
  policies: CapabilityPolicies.default({ '*': stepPolicy }).describe(
    'policies of capabilities and tools by name (`*`: all others); policies of the template itself take precedence',
  ),
  done_confidence_threshold: z.number().min(0).max(1).default(0.7).describe('confidence from which the model may say that it is done'),
  stuck_threshold: z.int().min(1).max(20).default(3).describe('failed rounds in a row after which a run is stuck'),
  step_timeout_seconds: z.number().min(1).max(3_600).default(120).describe('seconds that one step may take'),
  max_plan_steps: z.int().min(1).max(20).default(8).describe('steps of a plan'),
  max_adjusts_at_confidence: z
    .int()
    .min(1)
    .max(20)
    .default(3)
    .describe('changes of plan at high confidence after which the run is summed up'),
  compress_every: z.int().min(1).max(100).default(3).describe('rounds after which the working memory is compressed'),
  default_delivery: z
    .array(z.union([z.literal('memory'), WebhookName]))
    .max(8)
    .default(['memory'])
    .describe('where results go: `memory`, which always gets them, and names of webhooks, unless a request names one itself'),
  ask_user: z
    .enum(['runs', 'always', 'never'])
    .default('runs')
    .describe('which runs may ask the user a question: runs = those of /v1/runs; always = chats too; never = none'),
  prompts: z
    .strictObject({
      planning: promptFor('plans the steps'),
      execution: promptFor('prepares the input of a step'),
      evaluation: promptFor('scores a step'),
      decision: promptFor('decides how to go on'),
    })
    .default({ planning: '', execution: '', evaluation: '', decision: '' })
    .describe('texts of the four prompts; empty = the shipped one'),
});
export type ReasoningOptions = z.infer<typeof ReasoningOptions>;
