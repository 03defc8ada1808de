import type { RunState, TaskState } from './state.js';

/**
 * Calls that are still in flight as far as the engine knows: the plan that is awaited, and dispatched tasks whose worker has not
 * answered, whatever the engine has written as their outcome meanwhile. What they cost is not in the usage of the run.
 */
export const openCallsOf = (run: RunState): number =>
  Object.values(run.tasks).filter(isInFlight).length + (run.phase === 'planning' ? 1 : 0);

const isInFlight = (task: TaskState): boolean =>
  task.openedAt !== null && task.lateUsage === null && (task.status === 'open' || isGivenUp(task));

/** Outcomes that the engine writes carry no attempt of a worker. Where no worker was there, nothing was begun. */
const isGivenUp = ({ result }: TaskState): boolean =>
  result?.attempt === 0 && (result.failure?.code === 'CALL_CANCELLED' || result.failure?.code === 'CALL_TIMEOUT');
