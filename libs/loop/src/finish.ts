import type { FailureNote } from '@conclave/contracts';
import { completedId, makeEvent, RunCompleted } from '@conclave/contracts';
import { readBudget } from './budget.js';
import { compose, fastAnswer } from './compose.js';
import { ended } from './decision-table.js';
import { dispatchJudge, settleUnanswered } from './dispatch.js';
import type { Moves } from './moves.js';
import { openCallsOf } from './open-calls.js';
import type { BornRun, Draft, Ending, RunState, TaskState } from './state.js';
import { isExpert } from './plan-rules.js';
import { currentFacts } from './superseding.js';
import { isHeld, review, reviewed, unreviewed } from './review.js';
import { categoryOf } from './tiers.js';
import type { Strategy } from './strategy.js';

/**
 * Ends a run with an answer: the accepted draft, else a synthesis, else (no budget, no time: `withoutCall`) the ledger's own answer.
 * With an empty ledger and no draft the run has failed.
 */
export function finish(moves: Moves, strategy: Strategy, ending: Ending, withoutCall = false): void {
  const { run } = moves;
  cancelOpen(moves, 'The run is finishing.');
  run.ending = ending;
  if (run.draft !== null && run.draft.epoch === run.epoch && run.phase !== 'composing') return deliver(moves, strategy, run.draft);
  const knows = run.memory.facts.length > 0;
  if (!knows) return fail(moves, run.failure ?? lastFailure(moves));
  if (withoutCall || readBudget(run, moves.now).level === 'spent') return end(moves, strategy.ledgerAnswer(run, ending.reason));
  run.draft = null;
  // A run that is forced to its end has no time for better answers.
  if (run.composing?.purpose === 'final') return write(moves, strategy);
  compose(moves, strategy, 'final', write);
}

/** Writes the answer: the one sure expert's, or a synthesis. */
export function write(moves: Moves, strategy: Strategy): void {
  const { run } = moves;
  const ending = run.ending!;
  delete run.composing;
  const fast = fastAnswer(run);
  if (fast) {
    moves.think(
      'fast.path',
      run.complexity === 'trivial'
        ? 'A trivial question: one expert answers'
        : 'One sure expert and nothing to merge: its answer is the answer',
    );
    return deliver(moves, strategy, fast);
  }
  run.phase = 'composing';
  const openGap = ending.outcome === 'completed' ? null : run.gap || null;
  const stream = isHeld(run) ? 'held' : 'live';
  if (!dispatchJudge(moves, 'synthesis', strategy.synthesisInput(run, openGap), { stream, fromReserve: true }))
    return deliver(moves, strategy, strategy.ledgerAnswer(run, ending.reason));
  const composer = Object.keys(run.tasks).at(-1)!;
  moves.entries.push({ kind: 'composing', taskId: composer, stream });
}

/** An answer that is ready: reviewed where its topic asks for it, then committed. */
function deliver(moves: Moves, strategy: Strategy, answer: Draft | null): void {
  if (answer !== null && review(moves, strategy, answer)) return;
  end(moves, answer);
}

/** The critic has its outcome. */
export function reviewEnded(moves: Moves, critic: TaskState): void {
  const { run } = moves;
  if (run.phase === 'reviewing') conclude(moves, reviewed(run, critic));
}

/** The time is over while an answer is reviewed: it goes out and says that it was not. */
export function endReview(moves: Moves): void {
  const { run } = moves;
  const answer = run.reviewing!;
  cancelOpen(moves, 'The time of the run is over.');
  conclude(moves, unreviewed(run, answer));
}

/** An answer of a cache is a run like any other, of one step. */
export function answerFromCache(moves: Moves): void {
  const { run } = moves;
  const { origin, runId, answer, sources, distance } = run.cached!;
  const how =
    origin === 'exact' ? 'The same question' : `A question of the same meaning (distance ${Math.round((distance ?? 0) * 1000) / 1000})`;
  const reason = `${how} was answered before, by ${runId}.`;
  run.ending = { outcome: 'completed', rule: null, reason, reasonCode: `cache_${origin}` };
  moves.think('fast.path', `Answered from the cache. ${reason}`);
  conclude(moves, { text: answer, sources, insight: null, cutShort: false, epoch: 0 });
}

/** The synthesis has its outcome: its text, or the ledger's answer with the reason `composer_failed` and the outcome unchanged. */
export function complete(moves: Moves, strategy: Strategy, ok: boolean, failure: FailureNote | null): void {
  const { run } = moves;
  if (ok && run.draft !== null) return deliver(moves, strategy, run.draft);
  const ending = run.ending!;
  run.ending = {
    ...ending,
    reasonCode: 'composer_failed',
    reason: `${ending.reason} The answer could not be written by a model (${failure?.message ?? 'no reply'}); it was put together from the findings.`,
  };
  deliver(moves, strategy, strategy.ledgerAnswer(run, run.ending.reason));
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
    const sentence = ended(`The run was cancelled: ${reason}`);
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
  conclude(moves, unreviewed(moves.run, answer));
}

function cancelOpen(moves: Moves, why: string): void {
  for (const [id, task] of Object.entries(moves.run.tasks)) {
    if (task.status === 'open') settleUnanswered(moves, id, task, 'cancelled', why);
    else if (task.status === 'blocked') task.status = 'settled';
  }
}

const learningOf = ({ template }: BornRun) => ({
  graph: template.learn ?? ('insights' as const),
  models: template.judge.models,
  prices: template.prices,
  contexts: template.contexts,
});

/** Most facts that go along for whoever learns from the run. */
const factsToLearnFrom = 12;

const expertOutcomes = (run: BornRun) =>
  Object.entries(run.tasks).flatMap(([taskId, task]) =>
    isExpert(task.spec.capability) && task.result && task.result.status !== 'repeated'
      ? [
          {
            taskId,
            category: categoryOf(task),
            model: task.result.model,
            tier: task.tier ?? ('t1' as const),
            confidence: task.result.confidence,
            gaps: [...task.result.gaps],
            status: task.result.status,
          },
        ]
      : [],
  );

/** Whether somebody looked at what the last round left: a verdict that failed or could not be read is none. */
export const isAssessed = ({ assessment }: Pick<RunState, 'assessment'>): boolean => assessment?.parsed === true;

/** Exactly one terminal event; nothing after it has outputs. */
function conclude(moves: Moves, answer: Draft | null): void {
  const { run, now } = moves;
  const ending = run.ending!;
  const openCalls = openCallsOf(run);
  if (openCalls > 0) run.openCalls = openCalls;
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
        openCalls,
        question: run.goal,
        assessed: isAssessed(run),
        insight: answer?.insight ?? null,
        history: run.history,
        caller: run.caller,
        template: { id: run.template.id, version: run.template.version, strategy: run.template.strategy },
        complexity: run.complexity ?? 'moderate',
        cached: run.cached ? { origin: run.cached.origin, runId: run.cached.runId, distance: run.cached.distance } : null,
        caching: run.caching ?? null,
        experts: expertOutcomes(run),
        review: run.review ?? 'none',
        evidence: currentFacts(run.memory)
          .filter((fact) => fact.source.kind !== 'expert')
          .slice(-factsToLearnFrom),
        ...(answer === null ? {} : { learning: learningOf(run) }),
        startedAt: run.startedAt,
        completedAt: now,
      },
    ),
  );
}
