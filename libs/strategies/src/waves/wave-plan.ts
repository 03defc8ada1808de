import type { PlannedTask, Template } from '@conclave/contracts';
import * as z from 'zod';

/** Options of the strategy in a template. */
export const WavesOptions = z.strictObject({
  max_waves: z.int().min(1).max(20).default(5).describe('waves of tool calls; after the last one the planner is not asked again'),
  call_timeout_s: z.number().min(1).max(3600).default(30).describe('seconds one tool call may take'),
});
export type WavesOptions = z.infer<typeof WavesOptions>;

/** Options of the run's template, with defaults. */
export const optionsOf = ({ options }: Pick<Template, 'options'>): WavesOptions => WavesOptions.parse(options ?? {});

/** Most calls of one wave. */
export const mostCalls = 16;

/** Content of a wave's plan besides its calls. */
export const WaveContent = z.object({
  status: z.enum(['continue', 'done']).describe('whether the planner wants to see the results, and plan again'),
  action: z.string().describe('what is being done, for people'),
  slots: z.record(z.string(), z.unknown()).describe('parameters taken from the question; merged over the waves'),
  reasoning: z.string(),
  answered: z.int().positive().optional().describe('calls that were left out because each repeats an answered one; absent for none'),
});
export type WaveContent = z.infer<typeof WaveContent>;

/** A call of an earlier wave, as shown to the planner. */
const KnownCall = z.object({
  id: z.string(),
  wave: z.int().positive(),
  tool: z.string(),
  args: z.record(z.string(), z.unknown()),
  status: z.enum(['ok', 'error']),
  text: z.string().describe('its result, or what went wrong'),
});
export type KnownCall = z.infer<typeof KnownCall>;

/** Input of a wave's planner besides the request. */
export const WaveAsked = z.object({
  wave: z.int().positive(),
  of: z.int().positive(),
  slots: z.record(z.string(), z.unknown()),
  said: z.array(WaveContent.pick({ action: true, reasoning: true })).describe('by wave, the first one first'),
  calls: z.array(KnownCall),
});
export type WaveAsked = z.infer<typeof WaveAsked>;

/**
 * All faults of a wave's calls, as sentences that a model can act on. An unknown tool is not a fault of the plan: its call fails, and
 * the others run.
 */
export function waveFaults(tasks: readonly PlannedTask[], used: ReadonlySet<string>): readonly string[] {
  const faults: string[] = [];
  const mine = new Set<string>();
  for (const { id } of tasks) {
    if (mine.has(id)) faults.push(`The id "${id}" is used twice. Give every call its own id.`);
    else if (used.has(id)) faults.push(`The id "${id}" was used in an earlier wave. Give every call a new id.`);
    mine.add(id);
  }
  for (const { id, needs } of tasks)
    for (const need of needs)
      if (mine.has(need))
        faults.push(
          `The call "${id}" needs "${need}" of the same wave. Calls of a wave run together: leave "${id}" for the next wave and say "status": "continue".`,
        );
      else if (!used.has(need)) faults.push(`The call "${id}" needs "${need}", which no earlier wave has called.`);
  if (tasks.length > mostCalls) faults.push(`The wave has ${tasks.length} calls; at most ${mostCalls} are allowed.`);
  return faults;
}
