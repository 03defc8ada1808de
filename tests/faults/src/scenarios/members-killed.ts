import { until } from '@conclave/test-support';
import type { ServedCall } from '@conclave/test-support';
import type { World } from '../world/world.js';
import { pause } from './measure.js';
import type { Scenario } from './scenario.js';

/** Services with the role whose call is in flight when they die. */
const members = [
  ['planner', 'planner'],
  ['experts', 'expert'],
  ['merger', 'composer'],
] as const;
/** Milliseconds from the kill of the only member of a service to the repeat of its call: the limits for the median and for the longest. */
const bounds = { medianMs: 7_000, maxMs: 10_000 };

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Kills the process while its call hangs, and returns the milliseconds until that call is repeated. */
async function killOnce(world: World, [service, role]: (typeof members)[number], n: number): Promise<{ ms: number; runId: string }> {
  const { system } = world;
  const name = `takeover-${service}-${n}`;
  const callsOf = (): readonly ServedCall[] =>
    system.models.calls.filter(({ step, messages }) => step === `load ${role}` && JSON.stringify(messages).includes(name));
  world.behave({ instead: (asked, question) => (asked === role && question.includes(name) ? { hang: true } : null) });
  const load = world.load.run({ runs: 1, atOnce: 1, name, patienceMs: 60_000 });
  await until('the call to die in', () => callsOf().length > 0, { timeoutMs: 30_000 });
  // Leases and heartbeats have a rhythm; the kills fall on different parts of it.
  await pause((n * 733) % 2_000);
  const before = callsOf().length;
  const process = system.process(service);
  const at = world.fault(`SIGKILL of ${service}`);
  await process.kill('SIGKILL');
  world.behave({});
  await until('the call to be made again', () => callsOf().length > before, { timeoutMs: 40_000 });
  const ms = callsOf()[before]!.at - at;
  const [asked] = await load;
  await process.ready();
  return { ms, runId: asked?.runId ?? '' };
}

/** How long the work of a service stops when its only process is killed and started again at once. */
export const membersKilled: Scenario = {
  name: 'members-killed',
  promise: 'The work of a killed process continues within 7 s, even if it was the only process of its service.',
  fault: 'kill -9 of the planner, the experts and the merger, one at a time and several times each, in the middle of a model call',
  modes: ['distributed'],
  controls: [],
  limitS: 400,
  ci: [],
  async run(world) {
    await world.warmUp();
    const late: string[] = [];
    for (const member of members) {
      const took: number[] = [];
      const runs: string[] = [];
      for (let n = 1; n <= (world.short ? 2 : 5); n += 1) {
        const { ms, runId } = await killOnce(world, member, n);
        took.push(ms);
        runs.push(runId);
      }
      const [typical, longest] = [median(took), Math.max(...took)];
      const figures = `${took.length} kills, median ${(typical / 1000).toFixed(1)} s, longest ${(longest / 1000).toFixed(1)} s`;
      world.row({ name: member[0], outcome: figures, recoveryMs: typical, runs });
      if (typical > bounds.medianMs || longest > bounds.maxMs) late.push(`${member[0]}: ${figures}`);
    }
    if (late.length > 0) throw new Error(`Work continued later than promised. ${late.join('; ')}.`);
  },
};
