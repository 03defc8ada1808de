import type { FactOf, PlanRequested } from '@conclave/contracts';
import { isKnown } from './absent-strategy.js';
import { bareStart, begun } from './begun.js';
import type { CommandRecord, RunState, TaskState } from './state.js';
import { StrategyFault } from './strategy-fault.js';
import { newTask, nothing } from './task-results.js';
import { viewOf, type Strategies } from './view.js';

/**
 * A stored state with every member that this version has and the version that stored it did not have, with the value that it has in a new
 * run; the same object if nothing is missing. Members that were renamed or changed their meaning are not found here: see `setAside`.
 */
export function completed(stored: unknown, strategies: Strategies): RunState {
  const run = stored as RunState;
  const bare = bareRun(run);
  const whole = withMissing(run, bare);
  const memory = withMissing(whole.memory, bare.memory);
  const tasks = completedTasks(whole.tasks);
  const own = completedOwn(whole, bare, strategies);
  return memory === whole.memory && tasks === whole.tasks && own === whole.own ? whole : { ...whole, memory, tasks, own };
}

/** The commands in a stored state of any version. */
export const commandsIn = ({ commands }: Partial<Pick<RunState, 'commands'>>): readonly CommandRecord[] => commands ?? [];

/** The value with the members of the other that it lacks. A member that is undefined is not stored, so its absence says nothing. */
function withMissing<T extends object>(value: T, initial: Partial<T>): T {
  const keys = Object.keys(initial) as (keyof T & string)[];
  const missing = keys.filter((key) => value[key] === undefined && initial[key] !== undefined);
  return missing.length === 0 ? value : { ...value, ...Object.fromEntries(missing.map((key) => [key, initial[key]])) };
}

function completedTasks(tasks: RunState['tasks']): RunState['tasks'] {
  let changed: Record<string, TaskState> | null = null;
  for (const [ref, task] of Object.entries(tasks)) {
    const whole = withMissing<TaskState>(task, newTask);
    const result = whole.result && withMissing(whole.result, nothing);
    if (whole === task && result === task.result) continue;
    changed ??= { ...tasks };
    changed[ref] = { ...whole, result };
  }
  return changed ?? tasks;
}

function completedOwn(run: RunState, bare: RunState, strategies: Strategies): unknown {
  // Neither a strategy that is missing here nor one that failed says what its part of the state begins with.
  if (run.faulty || !isKnown(strategies, run.strategy)) return run.own;
  const initial = initialOwn(bare, strategies);
  if (!isObject(initial)) return run.own;
  return isObject(run.own) ? withMissing(run.own, initial) : (run.own ?? initial);
}

function initialOwn(bare: RunState, strategies: Strategies): unknown {
  try {
    return strategies(bare.strategy).initial(viewOf(bare, strategies, null));
  } catch (error) {
    // An extension that fails here fails in its next function too, and the run then ends with its sentence.
    if (error instanceof StrategyFault) return null;
    throw error;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The run as its request began it. */
const bareRun = ({ runId, request, strategy = request.template.strategy, last = request.requestedAt }: RunState): RunState => ({
  ...begun(bareStart(request, last)),
  runId,
  strategy,
});

/** The run as its request began it, with its cost, and its end if it has ended: what is left to show if nothing else can be read. */
export function bareState(run: RunState): RunState {
  const { spent, due, hash, last, rounds, endedAt, ending, answer, failure, faulty } = run;
  const told = { spent, due, hash, last, rounds, ...(faulty ? { faulty } : {}) };
  const end = (endedAt ?? null) === null ? {} : { endedAt, ending, answer, failure };
  return withMissing({ ...told, ...end } as RunState, bareRun(run));
}

/** The state after `StateSetAside`. */
export function setAside(run: RunState, { kept }: FactOf<'StateSetAside'>): RunState {
  const { unusable: _, ...rest } = kept ? run : bareState(run);
  return { ...rest, faulty: true };
}

/** A state that stands for those that cannot be folded: the last one that could be, or the beginning of the run. */
export const unusableState = (
  state: RunState | null,
  runId: string,
  request: PlanRequested['data'] | null,
  why: string,
): RunState | null => (state ? { ...state, unusable: why } : request && { ...bareRun({ runId, request } as RunState), unusable: why });
