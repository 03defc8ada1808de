import { parentTaskOf, taskId, type Reading } from '@conclave/contracts';
import { isKnown } from './absent-strategy.js';
import { callsLeft, lacksPlan, readBudget, unplannedSignal } from './budget.js';
import { cancelOpen, closeRound, decideEnd, endsByBudget, finishing, say, sayLast } from './ending.js';
import type { Turning } from './turning.js';
import { isOscillating } from './memory.js';
import { admit, admitJudge, openReady } from './opening.js';
import { tasksThatAre, type Owed } from './state.js';
import { lastMoves, type Move, type NoPlan } from './strategy.js';
import { decideRow, ended } from './table.js';
import { limitsOf, viewOf } from './view.js';
import { awaitUser } from './waiting.js';

/** Performs one action that follows from the state alone; returns false if there is none. */
export function advance(turning: Turning): boolean {
  const { run, now, strategies } = turning;
  // A run whose cancel flag was found waits for the command, which says who cancelled it and why.
  if (run.flaggedAt !== undefined) return false;
  // A complete streamed text is the answer, even while the run is paused.
  if (run.ending && run.live && (run.paused || run.question)) return done(sayLast(turning));
  // Inputs are still folded, but the strategy is not asked until the run continues.
  if (run.paused || run.question) return false;
  if (endsByBudget(turning)) return true;
  const [owed] = run.owed;
  if (owed) return done(turn(turning, owed));
  if (openReady(turning)) return true;
  if (run.awaiting || tasksThatAre('open', run).length > 0) return false;
  const [blocked] = tasksThatAre('blocked', run);
  if (blocked) throw turning.fault('dispatch', `the task ${blocked[1].spec.id} can never begin: what it needs waits for it.`);
  const moves = strategies(run.strategy).next(viewOf(run, strategies, now));
  if (moves.length > 0) return done(apply(turning, 'next', moves));
  if (!run.ending)
    throw turning.fault('next', 'it returned no move although nothing is open. It may do that only while `run.ending` is set.');
  return done(sayLast(turning));
}

const done = (_: void): true => true;

/** Asks the strategy one owed question. */
function turn(turning: Turning, owed: Owed): void {
  const { run, now, strategies } = turning;
  const strategy = strategies(run.strategy);
  const view = viewOf(run, strategies, now);
  if (owed.hook === 'plan') {
    const plan = run.plan!;
    const moves = strategy.onPlan(view, plan);
    const says = strategy.announces?.(plan);
    turning.put({
      kind: 'Turn',
      hook: 'plan',
      plan: { epoch: run.epoch, fallback: plan.fallback, ...(says ? { says } : {}), tasks: announced(run.runId, run.epoch, moves) },
    });
    return apply(turning, 'onPlan', moves);
  }
  turning.put({ kind: 'Turn', hook: owed.hook });
  switch (owed.hook) {
    case 'noPlan': {
      const isBudget = run.failure?.code === 'ALLOWANCE_EXHAUSTED';
      return withoutPlan(turning, isBudget ? 'budget' : 'failed', owed.why);
    }
    case 'result': {
      const task = run.tasks[owed.ref]!;
      const counts = task.epoch === run.epoch && run.ending === null;
      return counts ? apply(turning, 'onResult', strategy.onResult?.(view, owed.ref, task) ?? []) : undefined;
    }
    case 'decided':
      return apply(turning, 'onDecided', strategy.onDecided?.(view, owed.then) ?? []);
    case 'command': {
      const { seq, command } = owed;
      const { name } = command;
      // An answer is applied when it arrives; only its consequences are pending.
      const isApplied = name === 'answer';
      if (isApplied && run.ending) return;
      const moves = strategy.onCommand?.(view, command) ?? [];
      const refused = run.ending ? 'The answer is being written.' : moves.find((move) => move.do === 'reject')?.reason;
      if (refused !== undefined) return turning.put({ kind: 'CommandRejected', seq, name, reason: refused });
      if (!isApplied) turning.put({ kind: 'CommandApplied', seq, name, epoch: run.epoch, at: now });
      return apply(turning, 'onCommand', moves);
    }
  }
}

const announced = (runId: string, epoch: number, moves: readonly Move[]) =>
  moves
    .flatMap((move) => (move.do === 'dispatch' && !move.helper ? move.tasks : []))
    .filter(({ origin }) => origin === undefined)
    .map(({ spec }) => ({
      taskId: taskId(runId, epoch, spec.id),
      capability: spec.capability,
      task: spec.query ?? spec.task,
      needs: [...spec.needs],
    }));

/** `by`: the function that returned the moves. */
function apply(turning: Turning, by: string, moves: readonly Move[]): void {
  if (moves.length > 0) turning.moved += 1;
  const last = moves.at(-1)?.do;
  if (by === 'next' && turning.run.ending && last !== 'say' && last !== undefined && lastMoves.has(last))
    throw turning.fault(
      by,
      `the run is ending (\`run.ending\` is set), and the move "${last}" is only for a run that goes on: return "say".`,
    );
  // What a strategy notes and cancels for a plan is not true of a run that cannot afford one.
  if (last === 'plan' && !affordsPlan(turning)) return withoutPlan(turning, 'budget', null);
  moves.forEach((move, index) => {
    if (lastMoves.has(move.do) && index < moves.length - 1)
      throw turning.fault(by, `the move "${move.do}" has to be the last one of its list.`);
    make(turning, by, move);
  });
}

function make(turning: Turning, by: string, move: Move): void {
  const { run, strategies } = turning;
  switch (move.do) {
    case 'dispatch':
      return admit(turning, move.tasks, move.helper ?? false);
    case 'judge':
      return admitJudge(turning, move.name, {
        stream: move.stream ?? 'held',
        ...(move.from ? { from: move.from } : {}),
        ...(move.composes ? { composes: true } : {}),
      });
    case 'accept':
      checkRefs(turning, by, move.do, [move.task, ...move.instead]);
      return turning.put({ kind: 'TaskAccepted', ref: move.task, instead: [...move.instead] });
    case 'cancel':
      if (Array.isArray(move.what)) checkRefs(turning, by, move.do, move.what as readonly string[]);
      return cancelOpen(turning, move.what, 'The strategy no longer needs it.');
    case 'note':
      return note(turning, move);
    case 'record':
      return turning.put(move.fact);
    case 'reject':
      throw turning.fault(by, 'only `onCommand` can reject: the move "reject" refuses a command.');
    case 'plan':
      cancelOpen(turning, 'all', replaced);
      return awaitPlan(turning, move.forbidTried ?? false);
    case 'take':
      cancelOpen(turning, 'all', replaced);
      return turning.put({ kind: 'PlanTaken', epoch: run.taken === run.epoch ? run.epoch + 1 : run.epoch, by: 'engine', plan: move.plan });
    case 'decide':
      return decide(turning, move.reading);
    case 'ask':
      return awaitUser(turning, move.question);
    case 'say':
      if (!run.ending)
        throw turning.fault(
          by,
          'the move "say" is only for a run that is ending: return "decide" with `sufficient: true`, and say the answer once `run.ending` is set.',
        );
      return say(turning, move.draft);
    case 'become':
      if (!isKnown(strategies, move.strategy)) throw turning.fault(by, `there is no strategy called "${move.strategy}".`);
      return turning.put({ kind: 'StrategyChosen', strategy: move.strategy });
  }
}

const replaced = 'Another plan takes its place.';

function checkRefs(turning: Turning, by: string, move: string, refs: readonly string[]): void {
  const { runId, epoch, tasks } = turning.run;
  const unknown = refs.find((ref) => !Object.hasOwn(tasks, ref));
  if (unknown === undefined) return;
  const meant = taskId(runId, epoch, unknown);
  const hint = Object.hasOwn(tasks, meant) ? `write its ref "${meant}"` : 'it needs the ref of a task of the run, as `tasksOf` lists them';
  throw turning.fault(by, `the move "${move}" names the task "${unknown}", which does not exist: ${hint}.`);
}

function note(turning: Turning, { data, code, stage, text, taskId, detail }: Extract<Move, { do: 'note' }>): void {
  const said = code
    ? { code, text: text ?? '', taskId: taskId ?? null, detail: turning.run.request.detail === 'full' ? (detail ?? null) : null }
    : stage || text
      ? { text: text ?? '' }
      : {};
  turning.put({ kind: 'Noted', ...(data ? { data } : {}), ...(stage ? { stage } : {}), ...said });
}

/** Whether the calls for a plan and for what follows it are left. A plan from the cache needs no call. */
function affordsPlan({ run, strategies }: Turning): boolean {
  const { keeps = 1 } = strategies(run.strategy).planner;
  return callsLeft(run) >= keeps + (run.request.plan && isFirstPlan(run) ? 0 : 1);
}

/** Goes on with the plan that the strategy itself makes, or ends the run with what is known. `detail`: why the planner gave none. */
function withoutPlan(turning: Turning, why: NoPlan, detail: string | null): void {
  const { run, now, strategies } = turning;
  const { planner, roundName = 'plan' } = strategies(run.strategy);
  const fallback = planner.fallback?.(viewOf(run, strategies, now), why);
  if (fallback) {
    const signals = why === 'budget' && fallback.signals.length === 0 ? [unplannedSignal] : fallback.signals;
    return apply(turning, 'planner.fallback', [{ do: 'take', plan: { ...fallback, signals } }]);
  }
  if (why === 'failed') {
    const reason = ended(`The planner gave no ${run.planned > 0 ? 'further ' : ''}plan: ${detail}`);
    return decideEnd(turning, { outcome: 'stuck', rule: 'D4', reason, reasonCode: 'planner_failed' });
  }
  const what = run.plan === null ? 'a plan' : `another ${roundName}`;
  const reason =
    detail === null
      ? `The budget leaves no model call for ${what} besides the answer.`
      : ended(`The budget is too small for ${what}: ${detail}`);
  decideEnd(turning, { outcome: 'limit_reached', rule: 'D2', reason, reasonCode: detail === null ? 'budget_model_calls' : 'budget_plan' });
}

function awaitPlan(turning: Turning, forbidTried: boolean): void {
  const { run, now, strategies } = turning;
  const { roundName } = strategies(run.strategy);
  const isFirst = isFirstPlan(run);
  turning.put({
    kind: 'PlanAwaited',
    epoch: isFirst ? 0 : run.epoch + 1,
    by: isFirst ? 'request' : 'engine',
    deadline: now + run.request.template.planning_timeout_s * 1000,
    max: limitsOf(run, strategies).adjusts,
    replan: run.plan !== null,
    forbidTried,
    gap: run.gap,
    ...(roundName ? { round: roundName } : {}),
  });
}

/**
 * Whether the run knows nothing beyond its request: the planner reads that itself, and makes the first plan without being asked. It does so
 * once: a first plan that was given up has used the epoch, and nothing that its planner still sends is accepted.
 */
const isFirstPlan = ({ planned, epoch, awaiting, tasks, memory, failure, givenUp }: Turning['run']): boolean =>
  planned === 0 &&
  epoch === 0 &&
  !awaiting &&
  givenUp === undefined &&
  Object.keys(tasks).length === 0 &&
  memory.facts.every(({ source }) => source.kind === 'request') &&
  failure === null;

/** Applies the decision table to the strategy's reading of its state. */
function decide(turning: Turning, read: Reading): void {
  closeRound(turning, read.failed);
  const reading = lacksPlan(turning.run) ? { ...read, unaffordable: 'a plan' } : read;
  turning.put({ kind: 'Assessed', epoch: turning.run.epoch, reading });
  const { run, now, strategies } = turning;
  const budget = readBudget(run, now);
  const own = limitsOf(run, strategies);
  // A child run does not ask the user: its parent waits for it.
  const limits = parentTaskOf(run.runId) ? { ...own, asks: false } : own;
  const circling = isOscillating(run.memory.tried);
  const { rule, choice, sentence } = decideRow({ ...run, reading, budget, limits, circling });
  turning.put({ kind: 'Decided', epoch: run.epoch, rule, then: choice.then, sentence, at: now });
  if (choice.then !== 'finish') return;
  finishing(turning, { outcome: choice.outcome, rule, reason: sentence, reasonCode: choice.reasonCode }, budget.level === 'spent');
}
