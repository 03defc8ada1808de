import type { Draft, PlanCreated, Reading } from '@conclave/contracts';
import type { Move, NoPlan } from '@conclave/loop';
import * as z from 'zod';
import type { AskingStrategy } from '../asks/asked-judge.js';
import { faultsOfPlan } from '../capabilities/declared.js';
import { dedupe, fallbackTasks } from '../plan-rules.js';
import { taskInput } from './context.js';
import { escalate, requestedTasks, withReferrals } from './experts.js';
import { judges } from './judges.js';
import { currentResults, ledgerAnswer, roundSummary } from './ledger.js';
import { isOneExpert, keptCalls, oneExpert } from './one-expert.js';
import { initialOwn, withPlan, type CommitteeView, type Own } from './own.js';
import { reviewOf, unreviewed } from './review.js';
import { fastAnswer, mayAssess, modeOf, stages } from './stages.js';
import { takePlaces } from './superseding.js';
import { ownPlan } from '../without-plan.js';

/** Consecutive failed rounds after which a run is stuck, and rounds without a new fact after which it is stalled. */
const [stuckRounds, stalledRounds] = [3, 2];

/** The plan used without one of the planner: one expert, or one general task on the goal at the level already found. */
function fallback(view: CommitteeView, why: NoPlan): PlanCreated['data'] | null {
  const { run, own } = view;
  if (run.plan !== null) return null;
  if (why === 'budget') return oneExpert(view);
  const tasks = [...fallbackTasks(run.request.goal)];
  if (own.refused === null) return ownPlan(view, why, { tasks });
  const { complexity, signals, safety, choices, reAsks } = own.refused;
  return ownPlan(view, why, { complexity, signals, safety, choices, reAsks, tasks });
}

/** Input of the decision table. */
function readingOf(view: CommitteeView): Reading {
  const { run, own } = view;
  // A gap of an earlier round stays open if no later round is assessed.
  const left = run.gap === '' ? {} : { open: run.gap };
  if (own.unaffordable) return { by: 'rounds', ...left, unaffordable: 'the gap check' };
  if (own.gap) {
    const { verdict, unread } = own.gap;
    const missing = verdict.verdict === 'needs_more_info' && !/^(none|complete)?\.?$/i.test(verdict.gap.trim());
    const { gap: open, nextFocus } = verdict;
    return { by: 'assessment', sufficient: !missing, ...(unread ? { unread } : {}), ...(missing ? { open, nextFocus } : {}) };
  }
  if (!mayAssess(view) || run.memory.facts.length > 0) return { by: 'rounds', ...left };
  const open = 'Nothing was found yet that answers the question.';
  return { by: 'assessment', sufficient: false, open, nextFocus: run.memory.searchQuestion ?? run.request.goal };
}

/** An answer without a model call: the written one, else the single sure expert's, else the ledger. */
function lastAnswer(view: CommitteeView, reason: string): Draft | null {
  const { draft, unwritten } = view.own;
  const known = (draft?.epoch === view.run.epoch ? draft : null) ?? (unwritten === null ? fastAnswer(view) : null);
  if (known) return unreviewed(view, known);
  const answer = ledgerAnswer(view, reason, unwritten);
  // The answer was being written when something else ended the run.
  const cut = unwritten === null && view.run.ending && view.run.ending.reason !== reason ? reason : unwritten;
  return answer && { ...unreviewed(view, answer), ...(cut ? { unwritten: cut } : {}) };
}

const committee = (id: 'single-pass' | 'agentic'): AskingStrategy<Own> => ({
  id,
  // The committee's options are members of the template itself.
  options: z.strictObject({}),
  commands: ['cancel', 'pause', 'resume', 'steer', 'add_context'],
  limits: (view) => {
    const isOnce = modeOf({ ...view, own: view.own ?? initialOwn }) === 'none';
    const replans = isOnce ? 0 : view.template.max_agentic_rounds;
    return {
      rounds: 1 + replans,
      adjusts: replans,
      stuck: stuckRounds,
      stall: stalledRounds,
      end: isOnce ? 'completed' : 'limit_reached',
    };
  },
  planner: {
    keeps: keptCalls,
    ask: (view) => ({ results: currentResults(view) }),
    faults: ({ template }, { tasks, complexity }) => faultsOfPlan(tasks, template, complexity),
    fallback,
  },
  judges,
  initial: () => initialOwn,
  evolve: (own, fact) => {
    if (fact.kind === 'Noted') return fact.data ? { ...own, ...fact.data } : own;
    if (fact.kind === 'PlanTaken') return withPlan(own, fact.plan);
    return fact.kind === 'PlanRefused' && fact.plan ? { ...own, refused: fact.plan } : own;
  },
  task: taskInput,
  onPlan: (view, plan) => {
    // The reply of the one expert is the answer, for which the reserve is kept. Members that always answer would need a call each.
    const [only] = isOneExpert(plan) ? requestedTasks(view, plan.tasks) : [];
    if (only) return [{ do: 'dispatch', tasks: [{ ...only, from: 'reserve' }] }];
    return [{ do: 'dispatch', tasks: requestedTasks(view, withReferrals(view, dedupe(plan.tasks))) }];
  },
  onResult: (view, ref, task) =>
    task.helper || isOneExpert(view.run.plan!) ? [] : [...takePlaces(view.run, ref, task), ...escalate(view, ref, task)],
  next: (view): readonly Move[] => {
    const { run, own } = view;
    if (run.plan === null && run.ending === null) return [{ do: 'plan' }];
    const stage = stages.find((candidate) => candidate.wanted(view));
    if (stage) return stage.ask(view);
    if (run.ending === null) return [{ do: 'decide', reading: readingOf(view) }];
    return own.draft ? [{ do: 'say', draft: unreviewed(view, own.draft) }] : [];
  },
  onDecided: ({ run, template }) => {
    const text = `Agentic Loop — Iteration ${run.replans + 1}/${template.max_agentic_rounds}: ${run.gap}`;
    const forbidTried = run.decisions.at(-1)?.rule === 'D7';
    return [
      { do: 'note', code: 'agentic.iteration', text },
      { do: 'plan', forbidTried },
    ];
  },
  lastAnswer,
  summary: roundSummary,
  report: (view) => ({ complexity: view.own.complexity ?? 'moderate', review: reviewOf(view, view.run.answer) }),
});

/** Planner, experts, merger, then gap detection and up to `max_agentic_rounds` re-plans. */
export const agentic = committee('agentic');
/** The committee without the loop: one round, nothing to assess. */
export const singlePass = committee('single-pass');
