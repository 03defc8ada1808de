import { addUsage, planId, type FactOf } from '@conclave/contracts';
import type { RunState } from '../state.js';
import { commandsOf, owing, withTask, type Folds } from './changes.js';

export const ofPlans: Folds<'PlanAwaited' | 'PlanTaken' | 'PlanRefused' | 'UsageCounted'> = {
  PlanAwaited: (run, { epoch, deadline, replan }) => ({
    ...run,
    epoch,
    awaiting: { epoch, deadline },
    replans: run.replans + (replan ? 1 : 0),
    owed: commandsOf(run.owed),
  }),
  PlanTaken: (run, fact) => owing(planTaken(run, fact), { hook: 'plan' }),
  PlanRefused: (run, { by, why, epoch, usage, failure, flaggedAt }) => {
    const givenUp = by === 'planner' ? {} : { givenUp: [...(run.givenUp ?? []), { epoch, counted: false }] };
    const flagged = flaggedAt === undefined ? {} : { flaggedAt: run.flaggedAt ?? flaggedAt };
    const refused = { ...run, ...givenUp, ...flagged, awaiting: null, spent: addUsage(run.spent, usage), failure };
    return by === 'engine' ? refused : owing(refused, { hook: 'noPlan', why });
  },
  UsageCounted: (run, { of, usage }) => {
    const counted = { ...run, spent: addUsage(run.spent, usage) };
    if (run.tasks[of]) return withTask(counted, of, { lateUsage: usage });
    if (!run.givenUp) return counted;
    return { ...counted, givenUp: run.givenUp.map((plan) => (planId(run.runId, plan.epoch) === of ? { ...plan, counted: true } : plan)) };
  },
};

function planTaken(run: RunState, { epoch, plan }: FactOf<'PlanTaken'>): RunState {
  const { complexity, cached, fallback, usage, failure, searchQuestion, signals, tasks, content } = plan;
  const mayBeKept =
    run.planned === 0 &&
    tasks.length > 0 &&
    content === undefined &&
    (run.request.caching?.plan ?? null) !== null &&
    usage.calls > 0 &&
    !fallback;
  return {
    ...run,
    epoch,
    plan,
    awaiting: null,
    planned: run.planned + 1,
    taken: epoch,
    spent: addUsage(run.spent, usage),
    plans: [...run.plans, { epoch, complexity, cached, fallback, usage, failure, ...(content ? { content } : {}) }],
    ...(mayBeKept ? { keptPlan: { complexity, signals, tasks, searchQuestion } } : {}),
    memory: searchQuestion !== null && run.memory.searchQuestion === null ? { ...run.memory, searchQuestion } : run.memory,
  };
}
