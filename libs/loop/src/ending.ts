import { type CachedAnswer, type Draft, type Ending, type FailureNote, noUsage } from '@conclave/contracts';
import { allowanceFor, lacksPlan, mostUsedBudget, readBudget, readWallTime } from './budget.js';
import type { Turning } from './turning.js';
import { budgetSentence } from './table.js';
import { viewOf } from './view.js';

/** Begins to end the run: cancels open work and lets the strategy write the answer. `hard`: ends it at once, without a model call. */
export function finishing(turning: Turning, ending: Ending, hard = false): void {
  cancelOpen(turning, 'all');
  turning.put({ kind: 'Finishing', ending });
  if (hard) sayLast(turning);
}

/** Ends the run with an answer that needs no model. `why` is the reason for giving it now. */
export function sayLast(turning: Turning, why = turning.run.ending!.reason): void {
  cancelOpen(turning, 'all');
  const { run, now, strategies } = turning;
  say(turning, strategies(run.strategy).lastAnswer(viewOf(run, strategies, now), why));
}

/** Ends the run with the answer, or as failed if there is none. */
export function say(turning: Turning, draft: Draft | null): void {
  const ending = turning.run.ending!;
  if (draft === null) {
    const failure = turning.run.failure ?? lastFailure(turning) ?? { code: 'RUN_FAILED', message: ending.reason, retriable: true };
    // The reason of a run that a failure ended already contains its message.
    const reason = ending.reason.includes(failure.message)
      ? `${ending.reason} Nothing was found to answer from.`
      : `${ending.reason} Nothing was found to answer from: ${failure.message}`;
    return endRun(turning, { ...ending, outcome: 'failed', reasonCode: 'empty_ledger', reason }, null, failure);
  }
  const { unwritten, ...answer } = draft;
  if (unwritten === undefined) return endRun(turning, ending, answer);
  endRun(turning, { ...ending, reasonCode: 'composer_failed', reason: unwrittenReason(ending.reason, unwritten) }, answer);
}

/** Why a run has ended whose answer no model wrote. `why`: the failure of the call; empty if none was made. */
export const unwrittenReason = (reason: string, why: string): string =>
  `${reason} The answer could not be written by a model${why === '' ? '' : ` (${why})`}; it was put together from the findings.`;

const lastFailure = ({ run }: Turning): FailureNote | null =>
  Object.values(run.tasks)
    .flatMap(({ result }) => (result?.failure ? [result.failure] : []))
    .findLast(({ code }) => code !== 'CALL_CANCELLED') ?? null;

/** Ends the run. A run ends once and has no outputs afterwards. */
export function endRun(turning: Turning, ending: Ending, answer: Draft | null, failure: FailureNote | null = null): void {
  cancelOpen(turning, 'all');
  for (const { seq, name, status } of turning.run.commands)
    if (status === 'accepted') turning.put({ kind: 'CommandRejected', seq, name, reason: 'The run ended before its turn.' });
  const { run, now } = turning;
  const openTasks = Object.values(run.tasks).filter(({ unanswered, lateUsage }) => unanswered && lateUsage === null);
  const openCalls = openTasks.length + (run.givenUp ?? []).filter(({ counted }) => !counted).length;
  turning.put({ kind: 'RunEnded', at: now, ending, answer, usage: run.spent, rounds: run.rounds, openCalls, failure });
}

/** Ends the run as failed, whatever was found. */
export const fail = (turning: Turning, reason: string, reasonCode: string, failure: FailureNote): void =>
  endRun(turning, { outcome: 'failed', rule: null, reason, reasonCode }, null, failure);

/** Ends the run in its first step, with a cached answer. */
export function endFromCache(turning: Turning, { origin, runId, answer, sources, distance }: CachedAnswer): void {
  const how =
    origin === 'exact' ? 'The same question' : `A question of the same meaning (distance ${Math.round((distance ?? 0) * 1000) / 1000})`;
  const reason = `${how} was answered before, by ${runId}.`;
  turning.put({ kind: 'Noted', code: 'fast.path', text: `Answered from the cache. ${reason}` });
  const ending = { outcome: 'completed' as const, rule: null, reason, reasonCode: `cache_${origin}` };
  endRun(turning, ending, { text: answer, sources, insight: null, cutShort: false, epoch: 0 });
}

/** Ends a run whose question or pause has lasted too long. */
export function endByClock(turning: Turning): void {
  const { run, now } = turning;
  const waited = run.question && run.question.deadline <= now ? 'question' : run.paused && run.paused.until <= now ? 'pause' : null;
  if (waited === null) return;
  if (run.paused) turning.put({ kind: 'Resumed', at: now });
  const unanswered = run.question?.calls
    ? 'The client did not send the results of its tools in time.'
    : 'Nobody answered the question in time.';
  const reason = waited === 'question' ? unanswered : 'The run was paused for too long.';
  decideEnd(
    turning,
    { outcome: 'limit_reached', rule: 'D2', reason, reasonCode: waited === 'question' ? 'no_answer' : 'paused_too_long' },
    true,
  );
}

/** Records the row that ends the run, and begins to end it. */
export function decideEnd(turning: Turning, ending: Ending & { readonly rule: NonNullable<Ending['rule']> }, hard = false): void {
  const { run, now } = turning;
  turning.put({ kind: 'Decided', epoch: run.epoch, rule: ending.rule, then: 'finish', sentence: ending.reason, at: now });
  finishing(turning, ending, hard);
}

/**
 * Counts the open round, if any, and records its results. `failed` is the strategy's judgement; without it, a round failed if tasks ran and
 * none succeeded.
 */
export function closeRound(turning: Turning, failed?: boolean): void {
  const { run, now, strategies } = turning;
  if (run.round === null) return;
  const tasks = run.round.map((ref) => run.tasks[ref]!);
  const ran = tasks.filter(({ result }) => result !== null && result.status !== 'repeated');
  const planned = tasks.filter(({ origin }) => origin === undefined).map(({ spec }) => spec);
  turning.put({
    kind: 'RoundClosed',
    epoch: run.epoch,
    failed: failed ?? (ran.length > 0 && ran.every(({ result }) => result!.status !== 'ok')),
    newFacts: Math.max(0, run.memory.facts.length - run.factsBefore),
    ...strategies(run.strategy).summary(viewOf(run, strategies, now), planned),
  });
}

/**
 * Ends the run by its budget: at 85 % of the wall time it begins the answer, at 100 % of any budget it ends the run with what was found.
 * Returns true if it did either. A run whose strategy goes in circles ends as soon as its tasks get no more calls.
 */
export function endsByBudget(turning: Turning, goesInCircles = false): boolean {
  const { run, now } = turning;
  const budget = readBudget(run, now);
  const isSpent = budget.level === 'spent';
  if (run.ending) {
    if (!isSpent) return false;
    sayLast(turning, run.ending.reasonCode === `budget_${budget.name}` ? undefined : budgetSentence(budget));
    return true;
  }
  const isUsedUp = goesInCircles && allowanceFor(run, 1, { calls: 1, tokens: 1 }, false).calls === 0;
  // The wall time is read by itself: the reserve of another budget, which does not end the run, must not hide it.
  const over = isSpent ? budget : isUsedUp ? mostUsedBudget(run, now) : readWallTime(run, now);
  if (over.level !== 'spent' && over.level !== 'reserve' && !isUsedUp) return false;
  closeRound(turning);
  const reason = `${budgetSentence(over)}${lacksPlan(run) ? ' The budget left no model call for a plan.' : ''}`;
  decideEnd(turning, { outcome: 'limit_reached', rule: 'D2', reason, reasonCode: `budget_${over.name}` }, isSpent);
  return true;
}

/** Settles open work as cancelled, so that its workers stop; `plan` is the awaited plan. `why` is the sentence for the tasks. */
export function cancelOpen(turning: Turning, what: 'all' | 'open' | 'plan' | readonly string[], why = 'The run was ending.'): void {
  const { awaiting } = turning.run;
  if (awaiting && (what === 'all' || what === 'plan')) giveUpPlan(turning, 'engine', 'it is not needed any more');
  if (what === 'plan') return;
  for (const [ref, task] of Object.entries(turning.run.tasks)) {
    if (task.status === 'settled' || (Array.isArray(what) && !what.includes(ref))) continue;
    if (task.status === 'open') settleByEngine(turning, ref, 'cancelled', why);
    else turning.put({ kind: 'TaskRefused', ref, capability: task.spec.capability, why: 'cancelled', at: turning.now });
  }
}

/** Stops waiting for the awaited plan. */
export function giveUpPlan(turning: Turning, by: 'clock' | 'engine', why: string): void {
  const { epoch } = turning.run.awaiting!;
  turning.put({ kind: 'PlanRefused', epoch, why, by, usage: noUsage, failure: null, plan: null });
}

const codes = { cancelled: 'CALL_CANCELLED', timeout: 'CALL_TIMEOUT', unavailable: 'WORKER_UNAVAILABLE' } as const;

/** Settles a task with an outcome made by the engine. */
export function settleByEngine(turning: Turning, ref: string, status: keyof typeof codes, message: string): void {
  const { epoch, spec, startBy } = turning.run.tasks[ref]!;
  const openedAt = startBy - turning.run.request.template.start_timeout_s * 1000;
  turning.put({
    kind: 'TaskSettled',
    ref,
    capability: spec.capability,
    by: 'engine',
    at: turning.now,
    facts: 0,
    text: '',
    result: {
      taskId: ref,
      epoch,
      status,
      output: null,
      confidence: null,
      gaps: [],
      refer: [],
      sources: [],
      failure: { code: codes[status], message, retriable: status !== 'cancelled' },
      model: null,
      usage: noUsage,
      attempt: 0,
      // No worker has said how long it worked on it: the time since the task was dispatched.
      durationMs: Math.max(0, Math.round(turning.now - openedAt)),
    },
  });
}
