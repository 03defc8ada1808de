import type { Event, TaskDispatched } from '@conclave/contracts';
import { nextRunId, requestOf } from '../committee/run-starter.js';
import { instantModels } from '../committee/instant-models.js';
import { RedisMonitor, type SeenCommand } from './redis-monitor.js';
import { startStepped } from './stepped-services.js';

/** One handled record with its requests to the store. */
export interface CountedHop {
  /** Name of the hop in the table. */
  readonly hop: string;
  /** Names of scripts and commands, in server order. */
  readonly trips: readonly string[];
}

/** Requests made on a timer, independent of records. */
const byTheClock = new Set([
  ...['renew-process', 'raise-generation', 'live-processes', 'park-runs'],
  ...['due-timers', 'next-timer', 'find-unpublished', 'probe', 'forget-published'],
]);
/** Requests whose time varies: load is reported with the leases, and a slot is kept for a while after its call. */
const untimely = new Set(['acquire-slot', 'release-slot']);
const loadChannel = /hint:load$/;

/**
 * Takes two runs of the benchmarks' committee through all services over a real Redis, one record at a time, and counts the second run;
 * the first loads all scripts and makes all subscriptions.
 */
export async function countHops(redisUrl: string): Promise<readonly CountedHop[]> {
  const monitor = await RedisMonitor.open(redisUrl);
  const { redis, log, close } = await startStepped({ redisUrl, keyPrefix: 'counted:', models: instantModels() });
  const { store: state } = redis;
  try {
    let marks = 0;
    const sinceLast = (): Promise<readonly SeenCommand[]> => {
      marks += 1;
      const mark = `counted-${marks}`;
      return monitor.until(mark, () => state.hints.publish(mark, ''));
    };
    const tripsOf = (seen: readonly SeenCommand[]): readonly string[] =>
      seen
        .filter(({ first }) => !loadChannel.test(first))
        .map((command) => monitor.nameOfSeen(command))
        .filter((name) => !byTheClock.has(name) && !untimely.has(name));
    const run = async (): Promise<readonly CountedHop[]> => {
      const header = requestOf(nextRunId());
      await state.runs.accept({ header, retryKey: null, openLimit: 1_000 });
      await log.publish([header]);
      await sinceLast();
      const seen: { readonly hop: string; readonly commands: readonly SeenCommand[] }[] = [];
      for (let hop = log.next(); hop; hop = log.next()) {
        await hop.take();
        seen.push({ hop: nameOf(hop.group, hop.event), commands: await sinceLast() });
      }
      return seen.map(({ hop, commands }) => ({ hop, trips: tripsOf(commands) }));
    };
    await run();
    return await run();
  } finally {
    await close();
    monitor.close();
  }
}

/** Name of the hop for the table: engine steps by their event, tasks by their work. */
function nameOf(group: string, event: Event): string {
  if (event.type !== 'TaskDispatched') return `${group}: ${event.type}`;
  const { capability } = (event as TaskDispatched).data;
  return `${group}: ${capability.startsWith('expert.') ? 'expert' : capability}`;
}
