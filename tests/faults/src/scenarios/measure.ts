import { until, type Supervised } from '@conclave/test-support';
import { startRun } from '@conclave/test-support/system';
import type { World } from '../world/world.js';

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Longest time from a fault to the end of a run that was under way then; null if there was none, or if one has not ended. */
export function recoveryAfter(world: World, at: number): number | null {
  const hit = world.load.asked.flatMap(({ runId, acceptedAt }) =>
    runId !== null && acceptedAt !== null && acceptedAt <= at ? [world.load.ended.get(runId) ?? Infinity] : [],
  );
  const after = hit.filter((end) => end >= at);
  return after.length === 0 || !after.every(Number.isFinite) ? null : Math.max(...after) - at;
}

/** Every run that was accepted. */
export const everyRun = (world: World): readonly string[] => world.load.asked.flatMap(({ runId }) => (runId === null ? [] : [runId]));

/** Runs that were requested under this name of a load. */
export const runsOf = (world: World, name: string): readonly string[] =>
  world.load.asked.flatMap(({ runId, question }) => (runId !== null && question.includes(` ${name}-`) ? [runId] : []));

/** Calls of a role that are under way at the model server. */
export const underWay = (world: World, role: 'planner' | 'expert' | 'assessor' | 'composer'): number =>
  world.system.models.calls.filter(
    ({ step, finishedAt, abortedAt }) => step === `load ${role}` && finishedAt === null && abortedAt === null,
  ).length;

/** Steps whose model call this process has begun and not ended, according to its own history. */
export function openSteps({ system }: World, { pid }: Supervised): readonly string[] {
  const open = new Set<string>();
  for (const { op, phase, id, process } of system.history()) {
    if (op !== 'call' || !process.includes(`-${pid}-`)) continue;
    if (phase === 'invoke') open.add(id);
    else open.delete(id);
  }
  return [...open];
}

/** Number of these. */
export const openCalls = (world: World, process: Supervised): number => openSteps(world, process).length;

/** Waits until experts are at work: a fault that meets no work shows nothing. */
export async function inFlight(world: World, calls = 3): Promise<void> {
  try {
    await until(`${calls} experts at work`, () => underWay(world, 'expert') >= calls, { timeoutMs: 30_000, everyMs: 10 });
  } catch (error) {
    throw new Error(`${String(error)} The last ask that was not accepted: ${world.load.lastRefusal}.`, { cause: error });
  }
}

/** Names of the processes that report that they are not ready, with their reason. */
export async function notReady(world: World): Promise<ReadonlyMap<string, string>> {
  const said = await Promise.all(
    [...world.system.all().keys()].map(async (name) => {
      const response = await fetch(`${world.system.healthUrl(name)}/health/ready`);
      return [name, response.status, await response.text()] as const;
    }),
  );
  return new Map(said.flatMap(([name, status, text]) => (status === 200 ? [] : [[name, text] as const])));
}

/** Asks while a store is full. Returns status and code of the refusal; throws unless its message is that of the failure table. */
export async function refusedForRoom(world: World): Promise<string> {
  const { status, body } = await startRun(world.system.url(), { model: 'conclave-fast', input: 'Load question refused-1-x?' });
  const { code, message } = body.error ?? { code: 'no error', message: JSON.stringify(body) };
  if (status !== 503 || !['STORE_FULL', 'NOT_READY'].includes(String(code)) || !/is full/.test(message))
    throw new Error(`A question was answered with ${status} ${code} while the store was full: ${message}`);
  return `${status} ${code}: full`;
}
