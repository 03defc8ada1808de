import { crashPoints, Failure, type CrashPointName } from '@conclave/contracts';
import type { History } from './history.js';

/** Where a test may end or freeze the process: the hook stands in the code always and does nothing without CRASH_AT and FREEZE_AT. */
export interface CrashPoints {
  /** Told whenever a service passes the point; ends the process when this is the hit that CRASH_AT names, freezes it for FREEZE_AT. `id` is what it was working on. */
  reached(service: string, point: CrashPointName, id: string): void;
  /** Whether the point does anything: those behind a write lie behind its being durable then, which nobody waits for otherwise. */
  isArmed(service: string, point: CrashPointName): boolean;
}

export const noCrashPoints: CrashPoints = { reached: () => {}, isArmed: () => false };

/** A point behind a write that has to survive. */
export async function reachedDurably(
  crashPoints: CrashPoints,
  store: { durable(): Promise<void> },
  ...at: Parameters<CrashPoints['reached']>
): Promise<void> {
  if (crashPoints.isArmed(at[0], at[1])) await store.durable();
  crashPoints.reached(...at);
}

/** The signal may arrive a moment later than `kill` returns; nothing may run in between. */
const signalSelf = (signal: 'SIGKILL' | 'SIGSTOP', waitMs: number): void => {
  process.kill(process.pid, signal);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
};
const reactions: Readonly<Record<CrashVariable, () => void>> = {
  CRASH_AT: () => signalSelf('SIGKILL', 10_000),
  FREEZE_AT: () => signalSelf('SIGSTOP', 200),
};

/** CRASH_AT ends the process; FREEZE_AT puts it to sleep, until somebody sends it SIGCONT. */
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
 * `<service>:<point>` or `<service>:<point>#<n>`: the reaction at the n-th hit (1 when not given), a history line before it.
 * Throws Failure CONFIGURATION_INVALID for anything else.
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
