import { Failure } from '@conclave/contracts';
import type { ProbePoint } from '@conclave/platform';
import type { Note } from './history-file.js';

/** Points at which a process can be told to die or to stop. */
const points: Readonly<Record<ProbePoint, true>> = {
  'after-accept': true,
  'after-poll': true,
  'before-call': true,
  'mid-stream': true,
  'reply-ordered': true,
  'after-call': true,
  'before-publish': true,
  'after-publish': true,
  'after-commit': true,
  'engine-decided': true,
  'engine-committed': true,
  'timer-due': true,
  'timer-published': true,
  'cache-written': true,
  'vectors-written': true,
  'tool-called': true,
  'graph-written': true,
  'setting-written': true,
};

/** Where a process ends or stops. */
export interface CrashPoints {
  /** Ends the process at the hit that CRASH_AT names, stops it at that of FREEZE_AT. `id` is the work in progress. */
  reached(service: string, point: ProbePoint, id: string): void;
  /** Whether one of the two variables names the point. */
  isArmed(service: string, point: ProbePoint): boolean;
}

const noCrashPoints: CrashPoints = { reached: () => {}, isArmed: () => false };

/** The signal may arrive after `kill` returns; nothing may run in between. */
const signalSelf = (signal: 'SIGKILL' | 'SIGSTOP', waitMs: number): void => {
  process.kill(process.pid, signal);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
};
const reactions: Readonly<Record<CrashVariable, () => void>> = {
  CRASH_AT: () => signalSelf('SIGKILL', 10_000),
  FREEZE_AT: () => signalSelf('SIGSTOP', 200),
};

/** CRASH_AT ends the process; FREEZE_AT stops it until it receives SIGCONT. */
type CrashVariable = 'CRASH_AT' | 'FREEZE_AT';

/** Both settings of one process. Throws Failure CONFIGURATION_INVALID. */
export function crashPointsOf(environment: { readonly [V in CrashVariable]?: string | undefined }, note: Note): CrashPoints {
  const both = (['CRASH_AT', 'FREEZE_AT'] as const).map((variable) => openCrashPoints(environment[variable], note, variable));
  return {
    reached: (service, point, id) => both.forEach((one) => one.reached(service, point, id)),
    isArmed: (service, point) => both.some((one) => one.isArmed(service, point)),
  };
}

/**
 * `<service>:<point>` or `<service>:<point>#<n>`: reacts to the n-th hit (default 1), after writing a history line. Throws Failure
 * CONFIGURATION_INVALID for anything else.
 */
export function openCrashPoints(at: string | undefined, note: Note, variable: CrashVariable = 'CRASH_AT'): CrashPoints {
  if (!at) return noCrashPoints;
  const match = /^([a-z-]+):([a-z-]+)(?:#([1-9]\d*))?$/.exec(at);
  if (!match || !Object.hasOwn(points, match[2]!)) {
    throw new Failure(
      'CONFIGURATION_INVALID',
      `${variable} is "${at}", expected <service>:<point>[#n] with a point of ${Object.keys(points).join(', ')}.`,
    );
  }
  const [, service, point] = match;
  let left = Number(match[3] ?? 1);
  return {
    reached: (where, name, id) => {
      if (where !== service || name !== point) return;
      left -= 1;
      if (left !== 0) return;
      note({ actor: where, op: name, phase: variable === 'CRASH_AT' ? 'crash' : 'freeze', id, data: { at } });
      reactions[variable]();
    },
    isArmed: (where, name) => where === service && name === point,
  };
}
