import { crashPoints, Failure, type CrashPointName } from '@conclave/contracts';
import type { History } from './history.js';

/** Points at which a test may end or freeze the process: the hook is always in the code and does nothing without CRASH_AT and FREEZE_AT. */
export interface CrashPoints {
  /**
   * Called whenever a service passes the point; ends the process at the hit that CRASH_AT names, freezes it for FREEZE_AT. `id` names the
   * work in progress.
   */
  reached(service: string, point: CrashPointName, id: string): void;
  /** Whether the point is active: only then do points after a write wait until it is durable. */
  isArmed(service: string, point: CrashPointName): boolean;
}

export const noCrashPoints: CrashPoints = { reached: () => {}, isArmed: () => false };

/** A point after a write that must survive. */
export async function reachedDurably(
  crashPoints: CrashPoints,
  store: { durable(): Promise<void> },
  ...at: Parameters<CrashPoints['reached']>
): Promise<void> {
  if (crashPoints.isArmed(at[0], at[1])) await store.durable();
  crashPoints.reached(...at);
}

/** The signal may arrive after `kill` returns; nothing may run in between. */
const signalSelf = (signal: 'SIGKILL' | 'SIGSTOP', waitMs: number): void => {
  process.kill(process.pid, signal);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
};
const reactions: Readonly<Record<CrashVariable, () => void>> = {
  CRASH_AT: () => signalSelf('SIGKILL', 10_000),
  FREEZE_AT: () => signalSelf('SIGSTOP', 200),
};

/** CRASH_AT ends the process; FREEZE_AT stops it until it gets SIGCONT. */
type CrashVariable = 'CRASH_AT' | 'FREEZE_AT';

/** Both hooks of one process. Throws Failure CONFIGURATION_INVALID. */
export function crashPointsOf(environment: { readonly [V in CrashVariable]?: string | undefined }, history: History): CrashPoints {
  const both = (['CRASH_AT', 'FREEZE_AT'] as const).map((variable) => openCrashPoints(environment[variable], history, variable));
  return both.every((one) => one === noCrashPoints)
    ? noCrashPoints
    : {
        reached: (service, point, id) => both.forEach((one) => one.reached(service, point, id)),
        isArmed: (service, point) => both.some((one) => one.isArmed(service, point)),
      };
}

/**
 * `<service>:<point>` or `<service>:<point>#<n>`: reacts to the n-th hit (default 1), after writing a history line. Throws Failure
 * CONFIGURATION_INVALID for anything else.
 */
export function openCrashPoints(at: string | undefined, history: History, variable: CrashVariable = 'CRASH_AT'): CrashPoints {
  if (!at) return noCrashPoints;
  const match = /^([a-z-]+):([a-z-]+)(?:#([1-9]\d*))?$/.exec(at);
  if (!match || !crashPoints.includes(match[2] as CrashPointName)) {
    throw new Failure(
      'CONFIGURATION_INVALID',
      `${variable} is "${at}", expected <service>:<point>[#n] with a point of ${crashPoints.join(', ')}.`,
    );
  }
  const [, service, point] = match;
  let left = Number(match[3] ?? 1);
  return {
    reached: (where, name, id) => {
      if (where !== service || name !== point) return;
      left -= 1;
      if (left !== 0) return;
      history.write({ actor: where, op: name, phase: variable === 'CRASH_AT' ? 'crash' : 'freeze', id, data: { at } });
      reactions[variable]();
    },
    isArmed: (where, name) => where === service && name === point,
  };
}
