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
  await until('the call to be made again', () => callsOf().length > before, { timeoutMs: 60_000 });
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
  // CI has no time for this scenario.
  controls: [{ without: 'lease-expiry', check: 'own-promise', ci: false }],
  limitS: 400,
  ci: [],
  async run(world) {
    await world.warmUp();
    // Without a protection, one late member is enough: the experts, whose calls others wait for.
    for (const member of world.controlled ? members.slice(1, 2) : members) {
      const took: number[] = [];
      const runs: string[] = [];
      for (let n = 1; n <= (world.controlled ? 1 : world.short ? 2 : 5); n += 1) {
        const { ms, runId } = await killOnce(world, member, n);
        took.push(ms);
        runs.push(runId);
        if (ms > bounds.maxMs)
          world.breaks(runId, `Its call was made again ${ms} ms after the kill of ${member[0]}; the bound is ${bounds.maxMs} ms.`);
      }
      const [typical, longest] = [median(took), Math.max(...took)];
      const figures = `${took.length} kills, median ${(typical / 1000).toFixed(1)} s, longest ${(longest / 1000).toFixed(1)} s`;
      world.row({ name: member[0], outcome: figures, recoveryMs: typical, runs });
      if (typical > bounds.medianMs)
        world.breaks(member[0], `Its work continued later than promised: ${figures}; the bound of the median is ${bounds.medianMs} ms.`);
    }
  },
};
