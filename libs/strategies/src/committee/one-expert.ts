import type { PlanCreated } from '@conclave/contracts';
import { unplannedSignal, type View } from '@conclave/loop';
import { asksNothing } from '@conclave/questions';
import { trivialTask } from '../plan-rules.js';
import { canSee, hasImage, visionCategory } from '../vision.js';
import { ownPlan, complexityOfRequest } from '../without-plan.js';

/** Model calls that a committee needs after its plan: one expert, and the answer. */
export const keptCalls = 2;

/** Marks a plan that was made without the planner. The question may need none: a trivial one is answered by one expert anyway. */
const signal = 'budget:calls';

/** Whether a plan is the one below: one expert answers, because the budget left no call for another. */
export const isOneExpert = ({ signals }: Pick<PlanCreated['data'], 'signals'>): boolean => signals.includes(signal);

/** The plan of a run that may not plan: the reply of one expert is the answer, as for a trivial question. */
export function oneExpert(view: Pick<View, 'run'>): PlanCreated['data'] {
  const { request } = view.run;
  const { goal, template, attachments } = request;
  const { category, level } = complexityOfRequest(request);
  const wantedLevel = request.complexity ?? template.complexity ?? 'moderate';
  const needsPlan = (wantedLevel === 'auto' ? level : wantedLevel) !== 'trivial' && !asksNothing(goal);
  const wanted = hasImage(attachments) && canSee(template) ? visionCategory : category;
  return ownPlan(view, 'budget', {
    complexity: 'trivial',
    signals: needsPlan ? [signal, unplannedSignal] : [signal],
    tasks: [trivialTask(request, wanted)],
  });
}
