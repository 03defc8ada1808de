import { noUsage, type PlanCreated, type PlanRequested, type RequestedTask } from '@conclave/contracts';
import { allowanceFor, lacksPlan, type NoPlan, type View } from '@conclave/loop';
import { complexityOf } from '@conclave/questions';
import { earlierQuestions } from './prompts/follow-up.js';

type Seen = Pick<View, 'run'>;

/** What the words of a question say, read with the turns before it. */
export const complexityOfRequest = (request: PlanRequested['data']): ReturnType<typeof complexityOf> =>
  complexityOf(request.goal, {
    hasHistory: request.conversation.length > 0,
    hasAttachments: (request.attachments ?? []).length > 0,
    earlier: earlierQuestions(request),
  });

/** A plan that a strategy makes itself. No planner has named the topics on which a wrong answer does harm, so the words do. */
export const ownPlan = ({ run }: Seen, why: NoPlan, more: Partial<PlanCreated['data']>): PlanCreated['data'] => ({
  epoch: run.epoch,
  complexity: 'moderate',
  signals: [],
  safety: [...complexityOfRequest(run.request).safety],
  cached: false,
  choices: {},
  tasks: [],
  searchQuestion: null,
  fallback: why === 'failed',
  reAsks: 0,
  failure: run.failure,
  // The usage of a refused plan was already counted.
  usage: noUsage,
  ...more,
});

/** How the one task of a run without a plan is asked: with the last call, if nothing else is left. */
export const lastResort = ({ run }: Seen): Pick<RequestedTask, 'from'> =>
  lacksPlan(run) && allowanceFor(run, 1, { calls: 1, tokens: 1 }, false).calls === 0 ? { from: 'reserve' } : {};

/** Whether a budget ended the run before its first plan, so that only what the model itself knows can answer. */
export const endsUnplanned = ({ run }: Seen): boolean => run.plan === null && run.ending?.rule === 'D2';
