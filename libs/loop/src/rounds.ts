import type { EarlierResult, PlanCreated, PlannedTask, RuleId } from '@conclave/contracts';
import { addUsage, GapDetected, gapId, makeEvent, noUsage } from '@conclave/contracts';
import { budgetLeft, readBudget } from './budget.js';
import { decideRow, ended, type Situation } from './decision-table.js';
import { admitTasks, bounded, dispatchJudge, dispatchReady, settleUnaffordable } from './dispatch.js';
import { compose, fastAnswer, plannedTasks } from './compose.js';
import { finish } from './finish.js';
import { circles } from './memory.js';
import type { Moves } from './moves.js';
import { fallbackTasks, isExpert, planFaults, withoutTwins } from './plan-rules.js';
import { withReferrals } from './referrals.js';
import { isJudge, tasksOf, type BornRun } from './state.js';
import type { Strategy } from './strategy.js';
import { isTool } from './superseding.js';
import { heard } from './tiers.js';

/** Takes the awaited plan in, as soon as it is there. A plan for a later round waits. */
export function takePlan(moves: Moves, strategy: Strategy): void {
  const { run } = moves;
  if (run.phase !== 'planning') return;
  const plan = run.earlyPlans[run.epoch];
  if (!plan) return;
  delete run.earlyPlans[run.epoch];
  run.spent = addUsage(run.spent, plan.usage);
  if (plan.failure !== null || planFaults(plan.tasks, run.template, plan.complexity).length > 0) return planMissing(moves, strategy, plan);
  startRound(moves, strategy, plan);
}

/** First plan: one general task instead. Re-plan: the run ends with what it has. */
export function planMissing(moves: Moves, strategy: Strategy, plan: PlanCreated['data'] | null): void {
  const { run } = moves;
  moves.disarm('planning');
  if (run.epoch > 0) {
    const why = plan?.failure?.message ?? (plan ? 'its plan was not valid' : 'it did not answer in time');
    return finish(moves, strategy, {
      outcome: 'stuck',
      rule: 'D4',
      reason: ended(`The planner gave no further plan: ${why}`),
      reasonCode: 'planner_failed',
    });
  }
  run.failure = plan?.failure ?? null;
  startRound(moves, strategy, {
    epoch: 0,
    complexity: plan?.complexity ?? 'moderate',
    signals: plan?.signals ?? [],
    safety: plan?.safety ?? [],
    cached: false,
    choices: plan?.choices ?? {},
    tasks: [...fallbackTasks(run.goal)],
    searchQuestion: null,
    fallback: true,
    reAsks: plan?.reAsks ?? 0,
    failure: plan?.failure ?? null,
    usage: plan?.usage ?? noUsage,
  });
}

function startRound(moves: Moves, strategy: Strategy, plan: PlanCreated['data']): void {
  const { run } = moves;
  moves.disarm('planning');
  run.phase = 'collecting';
  run.factsBefore = run.memory.facts.length;
  run.assessment = null;
  delete run.composing;
  // A question stays as hard as it was: a later round is planned for a gap, not for the question.
  if (run.epoch === 0 && plan.complexity !== 'moderate') run.complexity = plan.complexity;
  if (plan.safety.length > 0) run.safety = [...new Set([...(run.safety ?? []), ...plan.safety])];
  if (Object.keys(plan.choices).length > 0) run.choices = plan.choices;
  const { complexity, signals, searchQuestion } = plan;
  if (run.epoch === 0 && run.caching?.plan && plan.usage.calls > 0 && !plan.fallback)
    run.plan = { complexity, signals, tasks: plan.tasks, searchQuestion };
  const filters = plan.tasks.find((task) => task.metadata_filters)?.metadata_filters;
  if (filters) run.filters = filters;
  if (plan.searchQuestion !== null && run.memory.searchQuestion === null)
    run.memory = { ...run.memory, searchQuestion: plan.searchQuestion };
  const tasks =
    readBudget(run, moves.now).level === 'narrow' ? narrowed(withoutTwins(plan.tasks)) : withReferrals(run, withoutTwins(plan.tasks));
  moves.entries.push({
    kind: 'plan.ready',
    epoch: run.epoch,
    fallback: plan.fallback,
    tasks: tasks.map((task) => ({
      taskId: `${run.runId}/${run.epoch}/${task.id}`,
      capability: task.capability,
      task: task.query ?? task.task,
      needs: task.needs,
    })),
  });
  const ids = admitTasks(moves, tasks);
  run.plans.push({
    epoch: run.epoch,
    complexity: plan.complexity,
    ...(plan.signals.length > 0 ? { signals: plan.signals } : {}),
    ...(plan.cached ? { cached: true } : {}),
    fallback: plan.fallback,
    taskIds: [...ids],
    usage: plan.usage,
    failure: plan.failure,
  });
  advance(moves, strategy);
}

/** From 70 % of a budget on there is no new breadth: the last task of the plan and what it needs. */
function narrowed(tasks: readonly PlannedTask[]): PlannedTask[] {
  const last = tasks.at(-1);
  return last
    ? tasks
        .filter((task) => task === last || last.needs.includes(task.id))
        .map((task) => ({ ...task, needs: task.needs.filter((need) => last.needs.includes(need)) }))
    : [];
}

/** The draft that was to be assessed is not there: the run ends with the ledger's own answer. */
export function draftFailed(moves: Moves, strategy: Strategy): void {
  const sentence = 'No draft could be written that could be assessed.';
  noteDecision(moves, 'D11', sentence);
  finish(moves, strategy, { outcome: 'limit_reached', rule: 'D11', reason: sentence, reasonCode: 'composer_failed' }, true);
}

/** The judge cannot be asked any more within the budget. */
function judgeUnaffordable(moves: Moves, strategy: Strategy): void {
  const sentence = 'The budget leaves no model call for the gap check.';
  noteDecision(moves, 'D2', sentence);
  finish(moves, strategy, { outcome: 'limit_reached', rule: 'D2', reason: sentence, reasonCode: 'budget_model_calls' });
}

/** Goes on in a round: dispatches what became ready, and closes the round at its barrier. */
export function advance(moves: Moves, strategy: Strategy): void {
  const { run } = moves;
  if (run.phase !== 'collecting') return;
  const budget = readBudget(run, moves.now);
  if (budget.level === 'spent') return closeRound(moves, strategy);
  // In the reserve a round ends with what is there: what runs may end, nothing more is started.
  if (budget.level === 'reserve' && run.memory.facts.length > 0) settleUnaffordable(moves);
  else dispatchReady(moves, strategy);
  const open = tasksOf(run, run.epoch).some(([, task]) => !isJudge(task) && task.status !== 'settled');
  if (!open) closeRound(moves, strategy);
}

function closeRound(moves: Moves, strategy: Strategy): void {
  const { run } = moves;
  const round = plannedTasks(run, run.epoch);
  const ran = tasksOf(run, run.epoch)
    .filter(([, task]) => !isJudge(task))
    .filter(([, task]) => task.result !== null && task.result.status !== 'repeated');
  const failed = ran.length > 0 && ran.every(([, task]) => task.result!.status !== 'ok');
  run.counters.rounds += 1;
  run.counters.failedRounds = failed ? run.counters.failedRounds + 1 : 0;
  run.counters.roundsWithoutFacts = run.memory.facts.length > run.factsBefore ? 0 : run.counters.roundsWithoutFacts + 1;
  run.history.push({
    iteration: run.epoch,
    plan_summary: strategy.planSummary(round.map(([, task]) => task.spec)),
    findings: strategy.findings(run, run.epoch),
    gap: '',
  });
  const mode = modeOf(run, strategy);
  const roundsLeft = run.counters.rounds < roundsOf(run, strategy);
  const budget = readBudget(run, moves.now);
  const forced = budget.level === 'reserve' || budget.level === 'spent';
  if (mode === 'none' || !roundsLeft || forced) return decideNext(moves, strategy, null);
  if (run.memory.facts.length === 0) {
    run.assessment = {
      verdict: 'needs_more_info',
      gap: 'Nothing was found yet that answers the question.',
      nextFocus: run.memory.searchQuestion ?? run.goal,
      parsed: true,
    };
    return noteAssessment(moves, strategy);
  }
  if (mode === 'answer') {
    run.draft = null;
    return compose(moves, strategy, 'draft', writeDraft);
  }
  assess(moves, strategy);
}

/** A draft that is assessed before anybody sees it. */
export function writeDraft(moves: Moves, strategy: Strategy): void {
  const { run } = moves;
  delete run.composing;
  run.phase = 'assessing';
  const fast = fastAnswer(run);
  if (fast) {
    moves.think('fast.path', 'One sure expert and nothing to merge: its answer is the answer');
    run.draft = fast;
    return assess(moves, strategy);
  }
  if (!dispatchJudge(moves, 'synthesis', strategy.synthesisInput(run, null), { stream: 'held', fromReserve: false }))
    judgeUnaffordable(moves, strategy);
}

/** Nothing is assessed about a trivial question: its one expert is the answer. */
const modeOf = (run: BornRun, strategy: Strategy) => (run.complexity === 'trivial' ? 'none' : strategy.assessment(run.template));
const roundsOf = (run: BornRun, strategy: Strategy): number => (run.complexity === 'trivial' ? 1 : strategy.maxRounds(run.template));

export function assess(moves: Moves, strategy: Strategy): void {
  const { run } = moves;
  run.phase = 'assessing';
  if (!dispatchJudge(moves, 'gap', strategy.gapInput(run, run.draft), { stream: 'held', fromReserve: false }))
    judgeUnaffordable(moves, strategy);
}

/** The detector's fallback is COMPLETE; the reason says so, and nothing of it counts as assessed (loop.md, Sufficiency). */
export function assessed(moves: Moves, strategy: Strategy, ok: boolean): void {
  const { run } = moves;
  if (run.phase !== 'assessing') return;
  const failed = !ok || run.assessment === null;
  if (failed) run.assessment = { verdict: 'complete', gap: '', nextFocus: '', parsed: false };
  noteAssessment(moves, strategy, failed);
}

function noteAssessment(moves: Moves, strategy: Strategy, failed = false): void {
  const { run } = moves;
  const verdict = run.assessment!;
  const missing = verdict.verdict === 'needs_more_info' && !/^(none|complete)?\.?$/i.test(verdict.gap.trim());
  run.gap = missing ? verdict.gap : '';
  run.nextFocus = missing ? verdict.nextFocus : '';
  const last = run.history.at(-1);
  if (last) run.history[run.history.length - 1] = { ...last, gap: run.gap };
  moves.entries.push({
    kind: 'assessed',
    epoch: run.epoch,
    verdict: missing ? 'needs_more_info' : 'complete',
    gap: run.gap,
    nextFocus: run.nextFocus,
    parsed: verdict.parsed,
    ...(failed ? { failed } : {}),
  });
  decideNext(moves, strategy, !missing, failed ? 'failed' : verdict.parsed ? null : 'unreadable');
}

function decideNext(moves: Moves, strategy: Strategy, sufficient: boolean | null, unread: Situation['unread'] = null): void {
  const { run } = moves;
  const maxRounds = roundsOf(run, strategy);
  const situation: Situation = {
    cancelled: null,
    budget: readBudget(run, moves.now),
    sufficient,
    unread,
    failedRounds: run.counters.failedRounds,
    stuckThreshold: strategy.policy.stuckThreshold,
    heldTasksLeft: false,
    lastRoundClean: run.counters.failedRounds === 0,
    rounds: run.counters.rounds,
    maxRounds,
    assesses: modeOf(run, strategy) !== 'none',
    roundsWithoutFacts: run.counters.roundsWithoutFacts,
    stallLimit: strategy.policy.stallLimit,
    circling: circles(run.memory.tried),
    replansLeft: Math.max(0, maxRounds - run.counters.rounds),
    gap: run.gap,
    onlyUserCanFill: false,
  };
  const { rule, move, sentence } = decideRow(situation);
  noteDecision(moves, rule, sentence);
  if (move.then === 'adjust') return replan(moves, move.forbidTried);
  if (move.then === 'finish')
    return finish(moves, strategy, { outcome: move.outcome, rule, reason: sentence, reasonCode: move.reasonCode });
  // D5, D10 and D11 belong to held plans, which no strategy of this table makes; an unassessable rest ends the run with what it has.
  finish(moves, strategy, { outcome: 'limit_reached', rule, reason: sentence, reasonCode: 'undecided' });
}

export function noteDecision(moves: Moves, rule: RuleId, sentence: string): void {
  moves.rule = { id: rule, sentence };
  moves.run.decisions.push({ epoch: moves.run.epoch, rule, sentence, at: moves.now });
  moves.entries.push({ kind: 'decided', epoch: moves.run.epoch, rule, sentence });
}

/** Most results that the next plan is told of. */
const resultsTold = 16;

/** Answers that are heard and results of tools that hold, latest first. */
const currentResults = (run: BornRun): EarlierResult[] =>
  Object.values(run.tasks)
    .filter((task) => heard(task) || (isTool(task.spec.capability) && task.result?.status === 'ok' && !task.superseded))
    .map((task) => ({
      id: `${task.epoch}/${task.origin ?? task.spec.id}`,
      capability: task.spec.capability,
      task: bounded(task.spec.task, 300),
      confidence: isExpert(task.spec.capability) ? task.result!.confidence : null,
      gaps: [...task.result!.gaps],
    }))
    .slice(-resultsTold)
    .reverse();

function replan(moves: Moves, forbidTried: boolean): void {
  const { run, now } = moves;
  const max = run.template.max_agentic_rounds;
  const iteration = run.epoch + 1;
  moves.outputs.push(
    makeEvent(
      GapDetected,
      { id: gapId(run.runId, run.epoch), runId: run.runId, source: 'merger', time: now },
      {
        epoch: run.epoch,
        iteration,
        max,
        gap: run.gap,
        nextFocus: run.nextFocus,
        history: run.history,
        memory: run.memory,
        results: currentResults(run),
        forbidden: forbidTried ? run.memory.tried.map((action) => `${action.capability}: ${action.argument}`) : [],
        left: budgetLeft(run, now),
      },
    ),
  );
  moves.entries.push({ kind: 'replanning', iteration, max, gap: run.gap });
  moves.think('agentic.iteration', `Agentic Loop — Iteration ${iteration}/${max}: ${run.gap}`);
  run.epoch = iteration;
  run.phase = 'planning';
  run.draft = null;
  moves.arm('planning', now + run.template.planning_timeout_s * 1000);
}
