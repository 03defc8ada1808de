import {
  planId,
  resultId,
  type AnyEvent,
  type EngineEntry,
  type Event,
  factEntries,
  factSentence,
  noUsage,
  type PlanRequested,
  type RunFact,
} from '@conclave/contracts';
import { orAbsent, without } from './absent-strategy.js';
import { readBudget } from './budget.js';
import { awaitClientTools } from './waiting.js';
import { endCancelled, takeCommand } from './commands.js';
import { endFromCache, endRun, endsByClock } from './ending.js';
import { evolve } from './fold.js';
import { addFacts, saidBy } from './memory.js';
import { statusOf, type RunState } from './state.js';
import { StrategyFault } from './strategy-fault.js';
import { takeUp } from './take-up.js';
import { Turning } from './turning.js';
import { advance } from './turns.js';
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
}

/** Passes of one step after which the strategy counts as looping. */
const mostPasses = 200;

/**
 * One step of a run: applies the input, then everything that follows from the state. Pure; `at` is the store's clock. Returns null if
 * nothing follows, as for every input after the end. `request` begins a run whose own request was never applied. Throws NotBegun.
 */
export function step(
  state: RunState | null,
  input: EngineInput,
  at: number,
  strategies: Strategies,
  request: PlanRequested | null = null,
): StepResult | null {
  if (state !== null && (state.endedAt !== null || input.type === 'PlanRequested')) return null;
  if (state === null && input.type !== 'PlanRequested' && request === null) throw new NotBegun('run', input.id);
  const isTimer = input.type === 'TimerFired';
  if (isTimer && input.data.arm !== state?.due.arm) return null;
  const isAbort = input.type === 'CommandIssued' && input.data.command.name === 'abort';
  const begun = (known: Strategies): Turning => new Turning(state, input.runId, Math.max(at, state?.last ?? at), known);
  let turning = begun(isAbort ? orAbsent(strategies) : strategies);
  try {
    turnBy(turning, state === null, input, request);
  } catch (error) {
    if (!(error instanceof StrategyFault)) throw error;
    // The step is discarded and begins again without this strategy.
    turning = begun(without(error.strategy, strategies));
    endFaulty(turning, state === null, input, request, error);
  }
  const { facts, outputs, cancels } = turning;
  if (facts.length === 0 && !isTimer) return null;
  const run = { ...turning.run, last: turning.now };
  const timer = nextDue(run, isTimer);
  const next = timer ? { ...run, due: timer } : run;
  return { next, facts, outputs, entries: facts.flatMap(factEntries), cancels, timer, status: statusOf(next) };
}

/** Applies the input, then everything that follows from the state. */
function turnBy(turning: Turning, isNew: boolean, input: EngineInput, request: PlanRequested | null): void {
  if (isNew && request !== null) {
    begin(turning, request.data);
    settle(turning);
  }
  // A request answered by a cache ends its run before the input is applied.
  const isOver = turning.facts.length > 0 && turning.run.endedAt !== null;
  if (!isOver) receive(turning, input);
  if (input.type === 'TimerFired' || turning.facts.length > 0) settle(turning);
}

/** Ends a run whose strategy failed. The input still counts: what a result cost, and a cancel. */
function endFaulty(
  turning: Turning,
  isNew: boolean,
  input: EngineInput,
  request: PlanRequested | null,
  { strategy, where, why, message }: StrategyFault,
): void {
  if (isNew) {
    const asked = input.type === 'PlanRequested' ? input.data : request!.data;
    turning.put({ kind: 'RunStarted', at: turning.now, strategy: asked.template.strategy, maxRounds: 1, request: asked });
  }
  turning.put({ kind: 'StrategyFailed', strategy, where, why });
  if (!isNew && input.type !== 'TimerFired') receive(turning, input);
  if (turning.run.endedAt !== null) return;
  const failure = { code: 'STRATEGY_FAILED', message, retriable: false } as const;
  endRun(turning, { outcome: 'failed', rule: null, reason: message, reasonCode: 'strategy_failed' }, null, failure);
}

/** Advances until nothing follows from the state. */
function settle(turning: Turning): void {
  for (let pass = 1; turning.run.endedAt === null && advance(turning); pass += 1) {
    if (pass < mostPasses) continue;
    const last = factSentence(turning.facts.at(-1)!);
    const reason = `The strategy ${turning.run.strategy} goes in circles: ${mostPasses} times in a row it found something to do, and nothing was open or awaited. Its last fact: ${last}`;
    const failure = { code: 'RUN_FAILED', message: reason, retriable: false } as const;
    endRun(turning, { outcome: 'failed', rule: null, reason, reasonCode: 'strategy_loops' }, null, failure);
  }
}

function begin(turning: Turning, request: PlanRequested['data']): void {
  const { strategy } = request.template;
  const { roundName } = turning.strategies(strategy);
  const named = roundName ? { round: roundName } : {};
  const started = { kind: 'RunStarted', at: turning.now, strategy, maxRounds: 1, ...named, request } as const;
  const bare = evolve(null, started, turning.strategies);
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

/** Applies the input to this state. */
function receive(turning: Turning, input: EngineInput): void {
  const { run } = turning;
  switch (input.type) {
    case 'PlanRequested':
      return begin(turning, input.data);
    case 'PlanCreated':
      return takePlan(turning, input.data);
    case 'ResultReady':
      return takeResult(turning, input.data);
    case 'CommandIssued':
      return takeCommand(turning, input.data);
    case 'TimerFired': {
      if (run.flaggedAt !== undefined) return endLost(turning, run.flaggedAt);
      const { awaiting } = run;
      if (awaiting && awaiting.deadline <= turning.now)
        turning.put({
          kind: 'PlanRefused',
          epoch: awaiting.epoch,
          why: 'it did not answer in time',
          by: 'clock',
          usage: noUsage,
          failure: null,
          plan: null,
        });
      endsByClock(turning);
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

function takePlan(turning: Turning, plan: Extract<EngineInput, { type: 'PlanCreated' }>['data']): void {
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

function takeResult(turning: Turning, result: Extract<EngineInput, { type: 'ResultReady' }>['data']): void {
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
