import type { TimerFired } from '@conclave/contracts';
import { reserveShare, wallTimeOf } from './budget.js';
import { settleByEngine } from './ending.js';
import type { Turning } from './turning.js';
import { tasksThatAre, type RunState, type TaskState } from './state.js';

/** Milliseconds a worker gets after its deadline to report by itself before the engine settles the task. */
const graceMs = 2_000;

/**
 * Milliseconds for which a flagged run waits for its cancel command. The sender sets the flag first, and a worker that finds it can be
 * faster than the command; a sender that dies in between never sends it.
 */
const commandMs = 5_000;

/** The time from which the command of a flag found at `flaggedAt` counts as lost. */
export const commandOver = (flaggedAt: number): number => flaggedAt + commandMs;

const startOver = ({ started, startBy }: TaskState): number => (started ? Number.POSITIVE_INFINITY : startBy + graceMs);
const endOver = ({ deadline }: TaskState): number => deadline + graceMs;

/** The earliest time at which the clock alone changes something, in milliseconds since 1970; null if it never does. */
export function dueOf(run: RunState): number | null {
  if (run.endedAt !== null) return null;
  if (run.flaggedAt !== undefined) return commandOver(run.flaggedAt);
  const wallMs = wallTimeOf(run) * 1000;
  const at = [
    ...(run.awaiting ? [run.awaiting.deadline] : []),
    ...tasksThatAre('open', run).map(([, task]) => Math.min(startOver(task), endOver(task))),
    ...(run.question ? [run.question.deadline] : []),
    ...(run.paused ? [run.paused.until] : []),
    // Rounded up to a whole millisecond, so that the share is really reached.
    ...(run.since === null ? [] : [run.since + Math.ceil(wallMs * (run.ending ? 1 : reserveShare)) - run.ran]),
  ];
  return at.length === 0 ? null : Math.min(...at);
}

/** The run's timer after a step if it must be set again, else null. A fired timer is gone, whatever it changed. */
export function nextDue(run: RunState, hasFired: boolean): RunState['due'] | null {
  const at = dueOf(run);
  return hasFired || at !== run.due.at ? { arm: run.due.arm + 1, at } : null;
}

/** Open tasks past their time to start or to end: the timer's sender must look up their status first. */
export const overdueTasks = (run: RunState, now: number): readonly { readonly taskId: string; readonly taskClass: string }[] =>
  tasksThatAre('open', run)
    .filter(([, task]) => Math.min(startOver(task), endOver(task)) <= now)
    .map(([taskId, { taskClass }]) => ({ taskId, taskClass }));

/**
 * Settles tasks that did not start or end in time, earliest deadline first. A task past its start deadline is settled only if the timer
 * reports that no worker has started it.
 */
export function settleOverdue(turning: Turning, told: TimerFired['data']['tasks']): void {
  const { run, now } = turning;
  const known = new Map(told.map((task) => [task.taskId, task]));
  const over = [...tasksThatAre('open', run)].sort(([a, one], [b, other]) => one.deadline - other.deadline || (a < b ? -1 : 1));
  for (const [ref, task] of over) {
    const about = known.get(ref);
    if (endOver(task) <= now) settleByEngine(turning, ref, 'timeout', 'The task did not end before its deadline.');
    else if (!about || startOver(task) > now) continue;
    else if (about.started) turning.put({ kind: 'TaskStarted', ref });
    else if (about.liveWorkers === 0) settleByEngine(turning, ref, 'unavailable', `No live worker serves the class ${task.taskClass}.`);
    else settleByEngine(turning, ref, 'timeout', 'No worker took the task before its start deadline.');
  }
}
