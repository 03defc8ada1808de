import type { ProbePoint } from '@conclave/platform';
import { until } from '@conclave/test-support';
import { byAdmin, plainTemplate } from '@conclave/test-support/system';
import type { SystemRequirements } from '../world/servers.js';
import type { World } from '../world/world.js';
import type { Cell } from './kill-matrix-cell.js';

/** After writes to stores other than log and run state, and after a call that changes something outside. */
export const portCells: readonly Cell[] = [
  { service: 'gateway', point: 'setting-written' },
  { service: 'experts', point: 'tool-called' },
  { service: 'merger', point: 'cache-written' },
  { service: 'merger', point: 'vectors-written' },
  { service: 'graph-ingest', point: 'graph-written' },
];

/** Written when a run has ended: the record being handled is the work. */
export const learnedBehind = (point: ProbePoint): boolean => point === 'cache-written' || point === 'vectors-written';

/** A template whose plans may name tools. */
export const toolTemplate = 'conclave-tools';
export const portSystem: SystemRequirements = {
  configuration: {
    mcp: { precision: { enabled: true } },
    templates: { [toolTemplate]: { ...plainTemplate, strategy: 'single-pass', gap_check: 'evidence', capabilities: ['mcp'] } },
  },
};

/**
 * Asks questions without a tool call until the planner's prompt offers the tools. They are offered only some time after a start, and a plan
 * cannot call them before.
 */
export async function toolsOffered({ system, load }: World): Promise<void> {
  const since = Date.now();
  let asked = 0;
  await until(
    'the tools in the prompt of the planner',
    async () => {
      await load.run({ runs: 1, atOnce: 1, name: `offered-${++asked}`, model: toolTemplate });
      return system.models.calls.some(
        ({ at, step, messages }) => at >= since && step === 'load planner' && JSON.stringify(messages).includes('precision.calculate('),
      );
    },
    { timeoutMs: 60_000, everyMs: 250 },
  );
}

/** Changes a prompt once runs are under way; the gateway dies after the write, and the same change, sent again, takes effect. */
export async function changePrompt(world: World): Promise<void> {
  const { system, load } = world;
  // A gateway that has just started took more than 5 s for its first runs beside three other systems.
  await until(
    'a run to be accepted',
    () => load.asked.some(({ runId, question }) => runId !== null && question.includes('setting-written')),
    { timeoutMs: 20_000 },
  );
  const text = 'Answer in the language of the question, and say plainly what you do not know.';
  await until(
    'the changed prompt',
    async () => {
      try {
        const response = await fetch(`${system.url()}/v1/admin/prompts/expert`, {
          method: 'PUT',
          headers: { ...byAdmin, 'content-type': 'application/json' },
          body: JSON.stringify({ text }),
        });
        return response.ok && ((await response.json()) as { text: string }).text === text;
      } catch {
        // Its gateway died after the write: sent again.
        return false;
      }
    },
    { timeoutMs: 30_000, everyMs: 250 },
  );
}
