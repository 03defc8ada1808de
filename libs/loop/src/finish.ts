import type { FailureNote } from '@conclave/contracts';
import { completedId, makeEvent, RunCompleted } from '@conclave/contracts';
import { readBudget } from './budget.js';
import { dispatchJudge, settleUnanswered } from './dispatch.js';
import type { Moves } from './moves.js';
import type { Draft, Ending } from './state.js';
import type { Strategy } from './strategy.js';

/**
 * Ends a run with an answer: the accepted draft, else a synthesis, else (no budget, no time: `withoutCall`) the ledger's own answer.
 * With an empty ledger and no draft the run has failed.
 */
export function finish(moves: Moves, strategy: Strategy, ending: Ending, withoutCall = false): void {
  const { run } = moves;
  cancelOpen(moves, 'The run is finishing.');
  run.ending = ending;
  if (run.draft !== null && run.draft.epoch === run.epoch && run.phase !== 'composing') return end(moves, run.draft);
  const knows = run.memory.facts.length > 0;
  if (!knows) return fail(moves, run.failure ?? lastFailure(moves));
  if (withoutCall || readBudget(run, moves.now).level === 'spent') return end(moves, strategy.ledgerAnswer(run, ending.reason));
  run.phase = 'composing';
  run.draft = null;
  const openGap = ending.outcome === 'completed' ? null : run.gap || null;
  if (!dispatchJudge(moves, 'synthesis', strategy.synthesisInput(run, openGap), { stream: 'live', fromReserve: true }))
    return end(moves, strategy.ledgerAnswer(run, ending.reason));
  const composer = Object.keys(run.tasks).at(-1)!;
  moves.entries.push({ kind: 'composing', taskId: composer, stream: 'live' });
}

/** The synthesis has its outcome: its text, or the ledger's answer with the reason `composer_failed` and the outcome unchanged. */
export function complete(moves: Moves, strategy: Strategy, ok: boolean, failure: FailureNote | null): void {
  const { run } = moves;
  if (ok && run.draft !== null) return end(moves, run.draft);
  const ending = run.ending!;
  run.ending = {
    ...ending,
    reasonCode: 'composer_failed',
    reason: `${ending.reason} The answer could not be written by a model (${failure?.message ?? 'no reply'}); it was put together from the findings.`,
  };
  end(moves, strategy.ledgerAnswer(run, run.ending.reason));
}

/** The time is over while the answer is being written: the ledger's answer; a run that ends for its time anyway keeps its reason. */
export function interrupt(moves: Moves, strategy: Strategy, sentence: string): void {
  const { run } = moves;
  cancelOpen(moves, 'The time of the run is over.');
  if (run.ending!.reasonCode !== 'budget_wall_time_s')
    return complete(moves, strategy, false, { code: 'CALL_TIMEOUT', message: sentence, retriable: true });
  run.ending = { ...run.ending!, reason: sentence };
  end(moves, strategy.ledgerAnswer(run, sentence));
}

export function finishCancelled(moves: Moves, command: 'cancel' | 'abort' | string, reason: string): void {
  const { run } = moves;
  cancelOpen(moves, 'The run was ended by a command.');
  if (command === 'abort') {
    run.ending = { outcome: 'failed', rule: null, reason: `A record of this run is a dead letter: ${reason}`, reasonCode: 'aborted' };
    run.failure = { code: 'RECORD_DEAD', message: reason, retriable: false };
  } else {
    const sentence = `The run was cancelled: ${reason}.`;
    moves.rule = { id: 'D1', sentence };
    run.decisions.push({ epoch: run.epoch, rule: 'D1', sentence, at: moves.now });
    moves.entries.push({ kind: 'decided', epoch: run.epoch, rule: 'D1', sentence });
    run.ending = { outcome: 'cancelled', rule: 'D1', reason: sentence, reasonCode: 'cancelled' };
  }
  conclude(moves, null);
}

function fail(moves: Moves, failure: FailureNote | null): void {
  const { run } = moves;
  const ending = run.ending!;
  run.failure = failure ?? { code: 'RUN_FAILED', message: 'Nothing was found and no expert answered.', retriable: true };
  run.ending = {
    ...ending,
    outcome: 'failed',
    reasonCode: 'empty_ledger',
    reason: `${ending.reason} Nothing was found to answer from: ${run.failure.message}`,
  };
  conclude(moves, null);
}

function lastFailure(moves: Moves): FailureNote | null {
  const failures = Object.values(moves.run.tasks).flatMap((task) => (task.result?.failure ? [task.result.failure] : []));
  return failures.findLast((failure) => failure.code !== 'CALL_CANCELLED') ?? null;
}

function end(moves: Moves, answer: Draft | null): void {
  if (answer === null) return fail(moves, lastFailure(moves));
  conclude(moves, answer);
}

function cancelOpen(moves: Moves, why: string): void {
  for (const [id, task] of Object.entries(moves.run.tasks)) {
    if (task.status === 'open') settleUnanswered(moves, id, task, 'cancelled', why);
    else if (task.status === 'blocked') task.status = 'settled';
  }
}

/** Exactly one terminal event; nothing after it has outputs. */
function conclude(moves: Moves, answer: Draft | null): void {
  const { run, now } = moves;
  const ending = run.ending!;
  moves.disarmAll();
  run.phase = 'done';
  run.answer = answer;
  run.completedAt = now;
  const shared = {
    outcome: ending.outcome,
    rule: ending.rule,
    reason: ending.reason,
    reasonCode: ending.reasonCode,
    answer: answer?.text ?? null,
    cutShort: answer?.cutShort ?? false,
    sources: [...(answer?.sources ?? [])],
    usage: run.spent,
    rounds: run.counters.rounds,
    failure: ending.outcome === 'failed' ? run.failure : null,
  };
  moves.entries.push({ kind: 'run.completed', ...shared });
  moves.outputs.push(
    makeEvent(
      RunCompleted,
      { id: completedId(run.runId), runId: run.runId, source: 'merger', time: now },
      {
        ...shared,
        question: run.goal,
        insight: answer?.insight ?? null,
        history: run.history,
        caller: run.caller,
        template: { id: run.template.id, version: run.template.version, strategy: run.template.strategy },
        startedAt: run.startedAt,
        completedAt: now,
      },
    ),
  );
}
