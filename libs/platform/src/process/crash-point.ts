import { crashPoints, Failure, type CrashPointName } from '@conclave/contracts';
import type { History } from './history.js';

/** Where a test build may end the process: the hook stands in the code always and does nothing without CRASH_AT. */
export interface CrashPoints {
  /** Told whenever a service passes the point; ends the process when this is the hit that CRASH_AT names. `id` is what it was working on. */
  reached(service: string, point: CrashPointName, id: string): void;
}

export const noCrashPoints: CrashPoints = { reached: () => {} };

const killSelf = (): void => {
  process.kill(process.pid, 'SIGKILL');
  // The signal may arrive a moment later than the call returns; nothing may run in between.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000);
};

/**
 * `<service>:<point>` or `<service>:<point>#<n>`: SIGKILL at the n-th hit (1 when not given), a history line before it.
 * Throws Failure CONFIGURATION_INVALID for anything else.
 */
export function openCrashPoints(at: string | undefined, history: History, kill: () => void = killSelf): CrashPoints {
  if (!at) return noCrashPoints;
  const match = /^([a-z-]+):([a-z-]+)(?:#([1-9]\d*))?$/.exec(at);
  if (!match || !crashPoints.includes(match[2] as CrashPointName)) {
    throw new Failure(
      'CONFIGURATION_INVALID',
      `CRASH_AT is "${at}", expected <service>:<point>[#n] with a point of ${crashPoints.join(', ')}.`,
    );
  }
  const [, service, point] = match;
  let left = Number(match[3] ?? 1);
  return {
    reached: (where, name, id) => {
      if (where !== service || name !== point) return;
      left -= 1;
      if (left !== 0) return;
      history.write({ actor: where, op: name, phase: 'crash', id, data: { at } });
      kill();
    },
  };
}
