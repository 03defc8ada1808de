import type { PlannedTask, TaskInputDraft } from '@conclave/contracts';
import { judgeTaskId, makeEvent, noUsage, taskId, TaskDispatched } from '@conclave/contracts';
import { allowanceFor, tokensFor } from './budget.js';
import { settle } from './evolve.js';
import { repeatOf } from './memory.js';
import type { Moves } from './moves.js';
import { actionOf, classOf, inOrderOfNeeds, isExpert } from './plan-rules.js';
import { categoryOf, expertModels, hasSecondTier, membersOf } from './tiers.js';
import { isJudge, tasksOf, type TaskState } from './state.js';
import { optionsOf } from './template-options.js';
import type { Strategy } from './strategy.js';

/** Milliseconds a worker gets beyond its deadline to report by itself before the engine settles the task. */
const graceMs = 2_000;
/** Model calls a task may make: its first model with two repeats, and one fallback. */
const callsPerTask = 4;

export const startTimer = (id: string): string => `start:${id}`;
export const taskTimer = (id: string): string => `task:${id}`;

/** A task of the current round that has not been dispatched. */
const newTask = ({ run }: Moves, spec: PlannedTask): TaskState => ({
  spec,
  epoch: run.epoch,
  taskClass: classOf(run.template, spec.capability),
  status: 'blocked',
  allowance: null,
  openedAt: null,
  result: null,
  lateUsage: null,
});

/**
 * Takes the tasks of a plan in, answering repeats from the ledger; none is dispatched yet. A task is no repeat
 * when something it builds on is new in this round.
 */
export function admitTasks(moves: Moves, tasks: readonly PlannedTask[]): readonly string[] {
  const { run } = moves;
  const ids: string[] = [];
  for (const spec of inOrderOfNeeds(tasks)) {
    const id = taskId(run.runId, run.epoch, spec.id);
    ids.push(id);
    const task = newTask(moves, spec);
    run.tasks[id] = task;
    const found = repeatOf(run.memory.tried, actionOf(spec, tasks));
    // What the planner wants done anew is no near repeat by mistake.
    const repeat = found === 'near' && spec.redoes ? 'new' : found;
    const seesNews = spec.needs.some((need) => run.tasks[taskId(run.runId, run.epoch, need)]?.status === 'blocked');
    if (!seesNews && (repeat === 'known' || repeat === 'near' || repeat === 'exhausted')) settleRepeat(task, repeat, moves.now);
    const early = run.earlyResults[id];
    if (early && task.status === 'blocked') settle(run, id, task, early, moves.now);
    delete run.earlyResults[id];
    if (task.status === 'settled') noteSettled(moves, id, task);
    else for (const member of membersOf(run, task)) run.tasks[taskId(run.runId, run.epoch, member.spec.id)] = member;
  }
  return ids;
}

function settleRepeat(task: TaskState, repeat: 'known' | 'near' | 'exhausted', now: number): void {
  task.status = 'settled';
  task.result = {
    status: 'repeated',
    text:
      repeat === 'known'
        ? 'Answered from what is already known.'
        : repeat === 'near'
          ? 'Dropped: says the same as an earlier action.'
          : 'Dropped: failed twice before.',
    confidence: null,
    facts: 0,
    gaps: [],
    model: null,
    failure: null,
    usage: noUsage,
    attempt: 0,
    durationMs: 0,
    settledAt: now,
  };
}

/** Dispatches every task of the round whose needs are settled, as far as concurrency and budget allow. */
export function dispatchReady(moves: Moves, strategy: Strategy): void {
  while (dispatchOnce(moves, strategy)) continue;
}

/** True when a task was settled instead of dispatched, so that what waits for it may be ready now. */
function dispatchOnce(moves: Moves, strategy: Strategy): boolean {
  const { run } = moves;
  const inRound = tasksOf(run, run.epoch).filter(([, task]) => !isJudge(task));
  const settled = new Set(inRound.filter(([, task]) => task.status === 'settled').map(([, task]) => task.spec.id));
  const open = Object.values(run.tasks).filter((task) => task.status === 'open').length;
  const ready = inRound
    .filter(([, task]) => task.status === 'blocked' && task.spec.needs.every((need) => settled.has(need)))
    .slice(0, Math.max(0, run.limits.concurrent_tasks - open));
  ready.forEach(([id, task], index) =>
    dispatch(moves, id, task, {
      sharers: ready.length - index,
      input: strategy.taskInput(run, task),
      stream: isShownLive(run, task) ? 'live' : 'held',
      fromReserve: false,
    }),
  );
  return ready.some(([, task]) => task.status === 'settled');
}

/** The one expert of a trivial question writes the answer itself: its text is shown unless something may still change it. */
function isShownLive(run: Moves['run'], task: TaskState): boolean {
  if (run.complexity !== 'trivial' || task.origin !== undefined || !isExpert(task.spec.capability)) return false;
  const category = categoryOf(task);
  const { reviewed } = optionsOf(run.template);
  const mayBeReviewed = reviewed.includes(category) || (reviewed.length > 0 && (run.safety ?? []).length > 0);
  return !hasSecondTier(run, category) && !mayBeReviewed;
}

/** What the judge is asked for. */
const judgeTasks = {
  gap: 'Assess what is missing',
  synthesis: 'Write the answer',
  thinking: 'Think before the answer is written',
  hints: 'Say how unsure experts may do better',
  score: 'Compare the answers of experts that were asked again',
  critic: 'Review the answer',
} as const;

export function dispatchJudge(
  moves: Moves,
  name: keyof typeof judgeTasks,
  input: TaskInputDraft,
  options: { stream: 'live' | 'held'; fromReserve: boolean },
): boolean {
  const { run } = moves;
  let n = 0;
  while (run.tasks[judgeTaskId(run.runId, run.epoch, name, n)]) n += 1;
  const id = judgeTaskId(run.runId, run.epoch, name, n);
  const spec: PlannedTask = {
    id: id.split('/')[2]!,
    capability: `judge.${name}`,
    task: judgeTasks[name],
    query: null,
    needs: [],
    metadata_filters: null,
  };
  const task = newTask(moves, spec);
  run.tasks[id] = task;
  dispatch(moves, id, task, { sharers: 1, input, stream: options.stream, fromReserve: options.fromReserve });
  return task.status === 'open';
}

interface DispatchOptions {
  readonly sharers: number;
  readonly input: TaskInputDraft;
  readonly stream: 'live' | 'held';
  readonly fromReserve: boolean;
}

function dispatch(moves: Moves, id: string, task: TaskState, options: DispatchOptions): void {
  const { run, now } = moves;
  const models = modelsFor(moves, task);
  const wanted = { calls: models.length === 0 ? 0 : callsPerTask, tokens: tokensFor(options.input) };
  const allowance = allowanceFor(run, options.sharers, wanted, options.fromReserve);
  if (models.length > 0 && allowance.calls === 0) {
    settle(run, id, task, nothingLeft(id, task), now);
    noteSettled(moves, id, task);
    return;
  }
  const startBy = now + run.template.start_timeout_s * 1000;
  const wallLeft = run.startedAt + run.limits.wall_time_s * 1000 - now;
  const timeoutS = Math.max(1, Math.min(run.template.task_timeout_s * 1000, wallLeft) / 1000);
  task.status = 'open';
  task.allowance = allowance;
  task.openedAt = now;
  const about = { id, taskClass: task.taskClass };
  moves.arm(startTimer(id), startBy + graceMs, about);
  moves.arm(taskTimer(id), startBy + timeoutS * 1000 + graceMs, about);
  if (options.stream === 'live' && isExpert(task.spec.capability)) moves.entries.push({ kind: 'composing', taskId: id, stream: 'live' });
  moves.entries.push({ kind: 'task.dispatched', taskId: id, capability: task.spec.capability, taskClass: task.taskClass });
  moves.outputs.push(
    makeEvent(
      TaskDispatched,
      { id, runId: run.runId, source: 'merger', time: now, key: id, taskClass: task.taskClass },
      {
        taskId: id,
        epoch: task.epoch,
        capability: task.spec.capability,
        input: options.input,
        models: [...models],
        prices: pick(run.template.prices, models),
        contexts: pick(run.template.contexts, models),
        strategy: run.template.strategy,
        tenant: run.caller.tenant,
        startBy,
        timeoutS,
        allowance,
        stream: options.stream,
        tier: task.tier ?? 't1',
        detail: run.detail ?? 'redacted',
        cached: run.caching !== undefined && (run.template.caches?.search ?? false),
        prompts: run.template.prompts ?? {},
      },
    ),
  );
}

const pick = <V>(table: Readonly<Record<string, V>>, keys: readonly string[]): Record<string, V> =>
  Object.fromEntries(keys.flatMap((key) => (table[key] === undefined ? [] : [[key, table[key]]])));

function modelsFor({ run }: Moves, task: TaskState): readonly string[] {
  if (isJudge(task)) return run.template.judge.models;
  return isExpert(task.spec.capability) ? expertModels(run, task) : [];
}

/** Settles every task of the round that was not dispatched yet: the budget has nothing left for it. */
export function settleUnaffordable(moves: Moves): void {
  const { run } = moves;
  for (const [id, task] of tasksOf(run, run.epoch)) {
    if (task.status !== 'blocked') continue;
    settle(run, id, task, nothingLeft(id, task), moves.now);
    noteSettled(moves, id, task);
  }
}

const nothingLeft = (id: string, task: TaskState) => ({
  taskId: id,
  epoch: task.epoch,
  status: 'error' as const,
  output: null,
  confidence: null,
  gaps: [],
  refer: [],
  sources: [],
  failure: { code: 'ALLOWANCE_EXHAUSTED', message: 'The budget of the run leaves no model call for this task.', retriable: false },
  model: null,
  usage: noUsage,
  attempt: 0,
  durationMs: 0,
});

/** Settles a task that never answered, as the engine sees it. */
export function settleUnanswered(
  moves: Moves,
  id: string,
  task: TaskState,
  status: 'timeout' | 'unavailable' | 'cancelled',
  message: string,
): void {
  const code = status === 'unavailable' ? 'WORKER_UNAVAILABLE' : status === 'timeout' ? 'CALL_TIMEOUT' : 'CALL_CANCELLED';
  settle(
    moves.run,
    id,
    task,
    { ...nothingLeft(id, task), status, failure: { code, message, retriable: status !== 'cancelled' } },
    moves.now,
  );
  if (!moves.cancels.includes(id)) moves.cancels.push(id);
  noteSettled(moves, id, task);
}

/** Tells the run stream that a task has its outcome, and takes its timers away. */
export function noteSettled(moves: Moves, id: string, task: TaskState): void {
  moves.disarm(startTimer(id));
  moves.disarm(taskTimer(id));
  const result = task.result!;
  moves.entries.push({
    kind: 'task.settled',
    taskId: id,
    capability: task.spec.capability,
    status: result.status,
    confidence: result.confidence,
    facts: result.facts,
    summary: bounded(result.failure?.message ?? (isJudge(task) ? '' : result.text), 240),
    durationMs: result.durationMs,
  });
}

export const bounded = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);
