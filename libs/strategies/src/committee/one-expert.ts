import type { PlanCreated } from '@conclave/contracts';
import type { RunState, View } from '@conclave/loop';
import { asksNothing, complexityOf } from '@conclave/questions';
import { ownPlan, trivialTask } from '../plan-rules.js';
import { earlierQuestions } from '../prompts/follow-up.js';
import { canSee, hasImage, visionCategory } from '../vision.js';

/** Model calls of the shortest committee: a plan, one expert, and the answer. */
export const fewestCalls = 3;

/** Marks a plan that was made without the planner, and one that should have had more than one expert. */
const signal = 'budget:calls';
const narrowed = 'budget:plan';

export const callsLeft = ({ request, spent }: RunState): number => request.limits.model_calls - spent.calls;

/** Whether a plan would leave too few model calls to ask an expert and to write the answer. A cached plan needs no call. */
export const mayNotPlan = (run: RunState): boolean => callsLeft(run) < fewestCalls - (run.request.plan ? 1 : 0);

/** Whether a plan is the one below. */
export const isOneExpert = ({ signals }: Pick<PlanCreated['data'], 'signals'>): boolean => signals.includes(signal);

/** Whether one expert answers, because the budget left no call for a plan. */
export const isUnplanned = ({ run }: Pick<View, 'run'>): boolean => run.plan !== null && isOneExpert(run.plan);

/** Whether its question needed a plan: a trivial one is answered by one expert anyway. */
export const lacksPlan = ({ run }: Pick<View, 'run'>): boolean => run.plan !== null && run.plan.signals.includes(narrowed);

/** The plan of a run that may not plan: the reply of one expert is the answer, as for a trivial question. */
export function oneExpert({ run }: Pick<View, 'run'>): PlanCreated['data'] {
  const { goal, template, conversation, attachments } = run.request;
  const hasAttachments = (attachments ?? []).length > 0;
  const { category, safety, level } = complexityOf(goal, {
    hasHistory: conversation.length > 0,
    hasAttachments,
    earlier: earlierQuestions(run.request),
  });
  const wantedLevel = run.request.complexity ?? template.complexity ?? 'moderate';
  const needsPlan = (wantedLevel === 'auto' ? level : wantedLevel) !== 'trivial' && !asksNothing(goal);
  const wanted = hasImage(attachments) && canSee(template) ? visionCategory : category;
  const signals = needsPlan ? [signal, narrowed] : [signal];
  return ownPlan(run, { complexity: 'trivial', signals, safety: [...safety], tasks: [trivialTask(run.request, wanted)] });
}
