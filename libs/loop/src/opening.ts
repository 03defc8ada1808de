import { judgeTaskId, parseTaskId, taskId, type RefusedWhy, type RequestedTask } from '@conclave/contracts';
import { allowanceFor, ranMs, readBudget, reserveShare, tokensFor, wallTimeOf } from './budget.js';
import type { Turning } from './turning.js';
import { actionKey, repeatOf } from './memory.js';
import { runCapability } from './child-runs.js';
import { classOf } from './task-class.js';
import { isJudge, judgeName, tasksThatAre, type RunState, type TaskState } from './state.js';
import { viewOf } from './view.js';

/** Maximum model calls of a task: its first model with two repeats, and one fallback. */
const callsPerTask = 4;

const refOf = ({ runId }: RunState, epoch: number, local: string): string => taskId(runId, epoch, local);

/** Adds tasks. From 70 % of a budget on, a round is not widened: only its first listed task is added, with its dependencies. */
export function admit(turning: Turning, wishes: readonly RequestedTask[], helper: boolean): void {
  const { run, now } = turning;
  const isNarrow = !helper && readBudget(run, now).level === 'narrow';
  const kept = new Set<string>();
  const keep = (id: string): void => {
    if (kept.has(id)) return;
    kept.add(id);
    wishes.find(({ spec }) => spec.id === id)?.spec.needs.forEach(keep);
  };
  if (isNarrow && wishes[0]) keep(wishes[0].spec.id);
  for (const wish of wishes) {
    const ref = refOf(run, run.epoch, wish.spec.id);
    if (turning.run.tasks[ref]) throw turning.fault('dispatch', `the task id "${wish.spec.id}" is used twice in plan ${run.epoch}.`);
    const taskClass = classOf(run.request.template, wish.spec.capability);
    turning.put({ kind: 'TaskAdmitted', ref, epoch: run.epoch, helper, taskClass, wish });
  }
  if (!isNarrow) return;
  for (const { spec } of wishes) if (!kept.has(spec.id)) refuse(turning, refOf(run, run.epoch, spec.id), 'narrow');
}

/** Adds a judge as a task outside the round. */
export function admitJudge(turning: Turning, name: string, how: Pick<RequestedTask, 'stream' | 'from' | 'composes'>): void {
  const { run, strategies } = turning;
  const { judges } = strategies(run.strategy);
  const judge = judges[name];
  if (!judge) throw turning.fault('judge', `there is no judge called "${name}"; there are: ${Object.keys(judges).join(', ') || 'none'}.`);
  let n = 0;
  while (run.tasks[judgeTaskId(run.runId, run.epoch, name, n)]) n += 1;
  const { local } = parseTaskId(judgeTaskId(run.runId, run.epoch, name, n))!;
  const spec = { id: local, capability: `judge.${name}`, task: judge.task, query: null, needs: [], metadata_filters: null };
  admit(turning, [{ spec, action: null, models: run.request.template.judge.models, learn: 'never', ...how }], true);
}

function refuse(turning: Turning, ref: string, why: RefusedWhy): void {
  turning.put({ kind: 'TaskRefused', ref, capability: turning.run.tasks[ref]!.spec.capability, why, at: turning.now });
}

/**
 * Opens every task that may begin: all its dependencies are settled, it is not a repeat, and concurrency and budget allow it. Returns true
 * if something changed.
 */
export function openReady(turning: Turning): boolean {
  const { run, now } = turning;
  const blocked = tasksThatAre('blocked', run);
  if (blocked.length === 0) return false;
  // In the reserve a round ends with the results it has: running tasks may end, no others are started.
  const isReserve = readBudget(run, now).level === 'reserve' && run.memory.facts.length > 0;
  const refused = isReserve ? blocked.filter(([, { from }]) => from !== 'reserve') : [];
  for (const [ref] of refused) refuse(turning, ref, 'budget');
  if (refused.length > 0) return true;
  const open = tasksThatAre('open', run);
  const inFlight = new Set(open.flatMap(([, { action }]) => (action ? [actionKey(action)] : [])));
  // Of equal tasks the first begins, and the others wait for its result.
  const free = blocked.filter(([, task]) => {
    const key = task.action ? actionKey(task.action) : null;
    if (!isFree(run, task) || (key !== null && inFlight.has(key))) return false;
    if (key !== null) inFlight.add(key);
    return true;
  });
  const repeats = free.flatMap(([ref, task]) => {
    const why = repeatedWhy(run, task);
    return why ? [{ ref, why }] : [];
  });
  for (const { ref, why } of repeats) refuse(turning, ref, why);
  if (repeats.length > 0) return true;
  const ready = free.slice(0, Math.max(0, run.request.limits.concurrent_tasks - open.length));
  ready.forEach(([ref], index) => openTask(turning, ref, ready.length - index));
  return ready.length > 0;
}

const needed = (run: RunState, { epoch, spec }: TaskState): readonly TaskState[] =>
  spec.needs.map((need) => run.tasks[refOf(run, epoch, need)] ?? run.tasks[need]!);

const isFree = (run: RunState, task: TaskState): boolean => needed(run, task).every(({ status }) => status === 'settled');

/**
 * How a task repeats an earlier action; null if it may run. A task is no repeat if one of its dependencies is new in this round, and a task
 * that the planner wants redone is not refused as near.
 */
function repeatedWhy(run: RunState, task: TaskState): RefusedWhy | null {
  if (task.action === null || needed(run, task).some(({ result }) => result!.status !== 'repeated')) return null;
  const repeat = repeatOf(run.memory.tried, task.action);
  if (repeat === 'new' || repeat === 'retry' || (repeat === 'near' && task.spec.redoes)) return null;
  return repeat;
}

function openTask(turning: Turning, ref: string, sharers: number): void {
  const { run, now, strategies } = turning;
  const task = run.tasks[ref]!;
  const strategy = strategies(run.strategy);
  const view = viewOf(run, strategies, now);
  const input = isJudge(task) ? strategy.judges[judgeName(task.spec.capability)]!.input(view, ref) : strategy.task(view, ref, task);
  const asksModel = task.models.length > 0;
  const callsItself = task.calls !== undefined;
  const wanted = { calls: task.calls ?? (asksModel ? callsPerTask : 0), tokens: callsItself ? Number.MAX_SAFE_INTEGER : tokensFor(input) };
  const allowance = allowanceFor(run, sharers, wanted, task.from === 'reserve');
  if ((asksModel || callsItself) && allowance.calls === 0) return refuse(turning, ref, 'budget');
  const { template } = run.request;
  // A child run must have its answer while its parent can still use it.
  const share = task.spec.capability === runCapability ? reserveShare : 1;
  const wallLeftMs = wallTimeOf(run) * 1000 * share - ranMs(run, now);
  turning.inputs.set(ref, input);
  turning.put({
    kind: 'TaskOpened',
    ref,
    capability: task.spec.capability,
    taskClass: task.taskClass,
    allowance,
    startBy: now + template.start_timeout_s * 1000,
    timeoutS: Math.max(1, Math.min((task.timeoutS ?? template.task_timeout_s) * 1000, wallLeftMs) / 1000),
    stream: task.stream,
    composes: task.composes ?? false,
  });
}
