import {
  planId,
  resultId,
  type AnyEvent,
  type EngineEntry,
  type Event,
  factEntries,
  factSentence,
  type PlanCreated,
  type PlanRequested,
  type ResultReady,
  type RunFact,
} from '@conclave/contracts';
import { isKnown, orAbsent, without } from './absent-strategy.js';
import { bareStart, begun } from './begun.js';
import { readBudget } from './budget.js';
import { awaitClientTools } from './waiting.js';
import { endCancelled, takeCommand } from './commands.js';
import { endByClock, endFromCache, endsByBudget, fail, giveUpPlan } from './ending.js';
import { addFacts, saidBy } from './memory.js';
import { statusOf, type RunState } from './state.js';
import { completed } from './stored-state.js';
import { StrategyFault } from './strategy-fault.js';
import { takeUp } from './take-up.js';
import { Turning } from './turning.js';
import { advance } from './advance.js';
import { commandOver, nextDue, settleOverdue } from './due.js';
import { limitsOf, viewOf, type Strategies } from './view.js';
import { textOf } from './task-results.js';

/** Inputs of the engine. */
export type EngineInput = Extract<AnyEvent, { type: 'PlanRequested' | 'PlanCreated' | 'ResultReady' | 'TimerFired' | 'CommandIssued' }>;

/** The input refers to something this run does not know yet: deliver it again later. */
export class NotBegun extends Error {
  constructor(
    readonly what: 'run' | 'task',
    id: string,
  ) {
    super(`${id} came before ${what === 'run' ? 'its run had begun' : 'its task was known'}.`);
  }
}

/** Result of one engine step: the next state, the facts that lead there, and all outputs. */
export interface StepResult {
  readonly next: RunState;
  readonly facts: readonly RunFact[];
  readonly outputs: readonly Event[];
  readonly entries: readonly EngineEntry[];
  /** Ids whose work must stop. */
  readonly cancels: readonly string[];
  /** The run's timer if this step set it; null if it is unchanged. */
  readonly timer: RunState['due'] | null;
  readonly status: string;
  /** The error for which the run was ended because its stored state cannot be used; absent otherwise. */
  readonly unusable?: unknown;
}

/** Lists of moves in one step after which the strategy counts as looping. */
const mostMoveLists = 200;

/**
 * One step of a run: applies the input, then everything that follows from the state. Pure; `at` is the store's clock. Returns null if
 * nothing follows, as for every input after the end. `request` begins a run whose own request was never applied. A run whose stored state
 * cannot be used is ended. Throws NotBegun.
 */
export function step(
  stored: RunState | null,
  input: EngineInput,
  at: number,
  strategies: Strategies,
  request: PlanRequested | null = null,
): StepResult | null {
  if (stored !== null && ((stored.endedAt ?? null) !== null || input.type === 'PlanRequested')) return null;
  const begins = stored !== null ? null : input.type === 'PlanRequested' ? input : request;
  const asked: StepOptions = { input, at, strategies, begins };
  // The timer of such a state is not known either, so each input counts.
  if (stored?.unusable !== undefined) return endUnusable(stored, new Error(stored.unusable), asked, true);
  let state = stored;
  try {
    state = stored && completed(stored, strategies);
    return stepOn(state, asked);
  } catch (error) {
    if (error instanceof NotBegun || !isUnusable(stored, state, asked)) throw error;
    return endUnusable(state, error, asked, state !== stored);
  }
}

interface StepOptions {
  readonly input: EngineInput;
  readonly at: number;
  readonly strategies: Strategies;
  /** The request with which the run begins in this step; null if it has begun. */
  readonly begins: PlanRequested | null;
}

const abortOf = (input: EngineInput) => (input.type === 'CommandIssued' && input.data.command.name === 'abort' ? input.data.command : null);

/**
 * Whether an error of a step ends the run: if another version stored the state, or if the step is the last one that can still end it. Any
 * other error is thrown, so that the input becomes a dead letter that shows the mistake.
 */
const isUnusable = (stored: RunState | null, state: RunState | null, { input, strategies }: StepOptions): boolean =>
  abortOf(input) !== null || (state !== null && state !== stored && isKnown(strategies, state.strategy));

function stepOn(state: RunState | null, { input, at, strategies, begins }: StepOptions): StepResult | null {
  if (state === null && begins === null) throw new NotBegun('run', input.id);
  const isTimer = input.type === 'TimerFired';
  if (isTimer && input.data.arm !== state?.due.arm) return null;
  const begun = (known: Strategies): Turning => new Turning(state, input.runId, Math.max(at, state?.last ?? at), known);
  let turning = begun(abortOf(input) ? orAbsent(strategies) : strategies);
  try {
    turnBy(turning, input, begins);
  } catch (error) {
    if (!(error instanceof StrategyFault)) throw error;
    // The step is discarded and begins again without this strategy.
    turning = begun(without(error.strategy, strategies));
    endFaulty(turning, input, begins, error);
  }
  if (turning.facts.length === 0 && !isTimer) return null;
  return resultOf(turning, isTimer);
}

function resultOf(turning: Turning, isTimer: boolean): StepResult {
  const { facts, outputs, cancels } = turning;
  const run = { ...turning.run, last: turning.now };
  const timer = nextDue(run, isTimer);
  const next = timer ? { ...run, due: timer } : run;
  return { next, facts, outputs, entries: facts.flatMap(factEntries), cancels, timer, status: statusOf(next) };
}

/**
 * Ends a run whose stored state cannot be used. `isOlder`: another version certainly stored it. Throws the error that showed it if not even
 * this is possible.
 */
function endUnusable(state: RunState | null, error: unknown, asked: StepOptions, isOlder: boolean): StepResult {
  const { input, at, strategies, begins } = asked;
  const why = error instanceof Error ? error.message : String(error);
  const dead = abortOf(input)?.reason ?? null;
  const sentence = [
    ...(dead === null ? [] : [`A record of this run is a dead letter: ${dead}.`]),
    ...(state === null ? [] : [otherVersion(isOlder)]),
  ].join(' ');
  const failure = { code: dead === null ? 'RUN_FAILED' : 'RECORD_DEAD', message: sentence, retriable: dead === null };
  const now = Math.max(at, state?.last ?? at);
  const strategy = state?.strategy ?? begins!.data.template.strategy;
  // If its end cannot be added to what is kept of the state for readers, only its request is kept.
  for (const kept of [true, false]) {
    const turning = new Turning(state, input.runId, now, without(strategy, orAbsent(strategies)));
    try {
      if (begins) turning.put(bareStart(begins.data, now));
      turning.put({ kind: 'StateSetAside', why, kept });
      fail(turning, sentence, 'state_unusable', failure);
      return { ...resultOf(turning, input.type === 'TimerFired'), unusable: error };
    } catch {
      continue;
    }
  }
  throw error;
}

const otherVersion = (isOlder: boolean): string =>
  `The state of this run was ${isOlder ? '' : 'probably '}stored by another version of Conclave and cannot be continued by this one: ask again.`;

/** Begins the run if it is new, and applies the input; after each, everything that follows from the state. */
function turnBy(turning: Turning, input: EngineInput, begins: PlanRequested | null): void {
  if (begins) {
    begin(turning, begins.data);
    settle(turning);
  }
  // A request answered by a cache ends its run before the input is applied.
  if (input.type === 'PlanRequested' || turning.run.endedAt !== null) return;
  receive(turning, input);
  if (input.type === 'TimerFired' || turning.facts.length > 0) settle(turning);
}

/** Ends a run whose strategy failed. The input still counts: what a result cost, and a cancel. */
function endFaulty(turning: Turning, input: EngineInput, begins: PlanRequested | null, fault: StrategyFault): void {
  const { strategy, where, why, message } = fault;
  if (begins) turning.put(bareStart(begins.data, turning.now));
  turning.put({ kind: 'StrategyFailed', strategy, where, why });
  if (!begins && input.type !== 'TimerFired' && input.type !== 'PlanRequested') receive(turning, input);
  if (turning.run.endedAt === null) fail(turning, message, 'strategy_failed', { code: 'STRATEGY_FAILED', message, retriable: false });
}

/** Advances until nothing follows from the state. */
function settle(turning: Turning): void {
  // Only moves count: what the engine does by itself, such as dropping hundreds of tasks that a budget has no calls for, comes to an end.
  let most = turning.moved + mostMoveLists;
  while (turning.run.endedAt === null && advance(turning)) {
    if (turning.moved < most) continue;
    if (turning.run.ending === null && endsByBudget(turning, true)) {
      most = turning.moved + mostMoveLists;
      continue;
    }
    const last = factSentence(turning.facts.at(-1)!);
    const reason = `The strategy ${turning.run.strategy} goes in circles: ${mostMoveLists} times in a row it found something to do, and nothing was open or awaited. Its last fact: ${last}`;
    fail(turning, reason, 'strategy_loops', { code: 'RUN_FAILED', message: reason, retriable: false });
  }
}

function begin(turning: Turning, request: PlanRequested['data']): void {
  const { strategy } = request.template;
  const { roundName } = turning.strategies(strategy);
  const named = roundName ? { round: roundName } : {};
  const started = { ...bareStart(request, turning.now), ...named };
  const bare = begun(started);
  const own = turning.strategies(strategy).initial(viewOf(bare, turning.strategies, null));
  turning.put({ ...started, maxRounds: limitsOf({ ...bare, own }, turning.strategies).rounds });
  turning.put({ kind: 'StrategyChosen', strategy });
  if (request.fork) return takeUp(turning, request.fork);
  const { skill } = request;
  if (skill)
    turning.put({
      kind: 'Noted',
      code: 'skill.resolved',
      text: `Skill /${skill.name} ${skill.arguments}`.trim(),
      detail: request.detail === 'full' ? request.goal : null,
    });
  if (request.cached) return endFromCache(turning, request.cached);
  if (request.clientTools) awaitClientTools(turning, request.clientTools);
}

/** Applies the input to the run, which has begun. */
function receive(turning: Turning, input: Exclude<EngineInput, PlanRequested>): void {
  const { run } = turning;
  switch (input.type) {
    case 'PlanCreated':
      return takePlan(turning, input.data);
    case 'ResultReady':
      return takeResult(turning, input.data);
    case 'CommandIssued':
      return takeCommand(turning, input.data);
    case 'TimerFired': {
      if (run.flaggedAt !== undefined) return endLost(turning, run.flaggedAt);
      const { awaiting } = run;
      if (awaiting && awaiting.deadline <= turning.now) giveUpPlan(turning, 'clock', 'it did not answer in time');
      endByClock(turning);
      // A spent budget cancels all open work of a run that is not held, so overdue tasks are not settled one by one. A paused or waiting
      // run cancels nothing yet.
      const { endedAt, paused, question } = turning.run;
      const isHeld = paused !== null || question !== null;
      if (endedAt === null && (isHeld || readBudget(turning.run, turning.now).level !== 'spent')) settleOverdue(turning, input.data.tasks);
    }
  }
}

/** Ends a run whose cancel flag was found but whose cancel command did not arrive in time. */
function endLost(turning: Turning, flaggedAt: number): void {
  if (commandOver(flaggedAt) <= turning.now) endCancelled(turning, 'its flag was set, and the command itself was lost');
}

function takePlan(turning: Turning, plan: PlanCreated['data']): void {
  const { run } = turning;
  const { epoch, usage, failure } = plan;
  if (run.awaiting?.epoch !== epoch) {
    // Of a plan that was taken or refused as its planner sent it, the usage was counted with it.
    const isNew = run.givenUp?.some((plan) => plan.epoch === epoch && !plan.counted) && usage.calls > 0;
    if (isNew) turning.put({ kind: 'UsageCounted', of: planId(turning.runId, epoch), attempt: 0, usage });
    return;
  }
  const strategy = turning.strategies(run.strategy);
  const [fault] = failure ? [failure.message] : strategy.planner.faults(viewOf(run, turning.strategies, null), plan);
  if (fault === undefined) return turning.put({ kind: 'PlanTaken', epoch, by: 'planner', plan });
  turning.put({
    kind: 'PlanRefused',
    epoch,
    why: failure ? fault : `its plan was not valid. ${fault}`,
    by: 'planner',
    usage,
    failure,
    plan,
    ...(failure?.code === 'CALL_CANCELLED' ? { flaggedAt: turning.now } : {}),
  });
}

function takeResult(turning: Turning, result: ResultReady['data']): void {
  const { run, now } = turning;
  const { taskId: ref, usage, attempt } = result;
  const task = run.tasks[ref];
  if (!task) throw new NotBegun('task', resultId(ref));
  if (task.status !== 'open') {
    const isNew = task.lateUsage === null && task.result?.attempt !== attempt && usage.calls > 0;
    if (isNew) turning.put({ kind: 'UsageCounted', of: ref, attempt, usage });
    return;
  }
  turning.put({
    kind: 'TaskSettled',
    ref,
    capability: task.spec.capability,
    by: 'worker',
    at: now,
    facts: task.learn === 'settled' ? addFacts(run.memory, saidBy(ref, task, result)).facts.length - run.memory.facts.length : 0,
    text: task.spec.capability.startsWith('judge.') ? '' : textOf(result),
    result,
  });
}
