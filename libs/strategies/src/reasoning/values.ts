import { Language, Rubric } from '@conclave/contracts';
import * as z from 'zod';

/** Most characters of the working memory. */
export const longestMemory = 4_000;

/** A step of a held plan. */
export const ReasoningStep = z.object({
  capability: z.string().describe('capability, or a tool as `server.tool`'),
  input_description: z.string(),
  reason: z.string(),
});
export type ReasoningStep = z.infer<typeof ReasoningStep>;

/** Content of a plan: steps, or why the goal is out of reach. */
export const PlanContent = z.object({
  steps: z.array(ReasoningStep),
  impossible: z.string().nullable().describe('why the goal is out of reach'),
  working_memory: z.string().nullable().describe('replaces the working memory; null leaves it'),
});
export type PlanContent = z.infer<typeof PlanContent>;

const OfferedLine = z.object({ name: z.string(), about: z.string() });

/** What every prompt of the strategy shows. */
const Seen = z.object({
  goal: z.string(),
  before: z.array(z.string()).optional().describe('what the user asked before, oldest first'),
  startedOn: z.string().describe('YYYY-MM-DD'),
  language: Language.optional(),
  memory: z.string(),
});
export type Seen = z.infer<typeof Seen>;

/** A step that was run: its purpose, how it ended, and what it found. */
const Done = z.object({ step: z.string(), status: z.string(), output: z.string() });

/** Input of the planner besides the request. */
export const PlanInput = Seen.extend({
  offered: z.array(OfferedLine),
  prior: z.array(z.string()).describe('what was known before the run'),
  done: z.array(Done),
  reason: z.string().nullable().describe('why there is another plan'),
  forbidden: z.array(z.string()),
  maxSteps: z.int().positive(),
});
export type PlanInput = z.infer<typeof PlanInput>;

export const PrepareInput = Seen.extend({
  step: ReasoningStep,
  about: z.string().describe('what the capability takes'),
  tool: z.object({ name: z.string(), signature: z.string(), description: z.string() }).nullable(),
  done: z.array(Done),
});
export type PrepareInput = z.infer<typeof PrepareInput>;

export const EvaluateInput = Seen.extend({ step: ReasoningStep, output: z.string() });
export type EvaluateInput = z.infer<typeof EvaluateInput>;

export const DecideInput = Seen.extend({
  steps: z.array(z.object({ step: z.string(), state: z.string() })),
  round: z.int(),
  of: z.int(),
  failures: z.int(),
  trend: z.string().nullable(),
  mayAsk: z.boolean(),
  threshold: z.number(),
});
export type DecideInput = z.infer<typeof DecideInput>;

export const CompressInput = Seen;

/** Input of a step's task: words, or arguments of a tool. */
export const Prepared = z.object({
  query: z.string().nullable(),
  tool: z.string().nullable().describe('tool, or operation of `math`'),
  args: z.record(z.string(), z.unknown()),
});
export type Prepared = z.infer<typeof Prepared>;

const memory = { working_memory: z.string().nullable() };
export const PrepareOutput = Prepared.extend(memory);
export const EvaluateOutput = z.object({ rubric: Rubric, summary: z.string(), ...memory });
export const DecideOutput = z.object({
  action: z.enum(['continue', 'adjust', 'ask_user', 'done', 'stuck']),
  confidence: z.number().min(0).max(1),
  reason: z.string(),
  question: z.string().nullable(),
  final_answer: z.string().nullable(),
  ...memory,
});
export type Decision = z.infer<typeof DecideOutput>;
export const CompressOutput = z.object({ working_memory: z.string() });
