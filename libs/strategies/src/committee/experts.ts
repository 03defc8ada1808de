import type { PlannedTask, RequestedTask, Template } from '@conclave/contracts';
import { isExpert, tasksOf, type Move, type TaskState } from '@conclave/loop';
import { actionOf, maxExpertTasks } from '../plan-rules.js';
import { categoryOf, confidenceOf, sureFrom, type CommitteeView } from './own.js';

export const profileOf = (template: Template, category: string) => template.experts[category] ?? template.experts['general'];

/** Whether unsure answers of this category go to a second tier. */
export const hasSecondTier = ({ template }: CommitteeView, category: string): boolean =>
  (profileOf(template, category)?.t2?.length ?? 0) > 0;

/** Models of the first tier in the order they are tried. */
const firstTier = ({ own, template }: CommitteeView, category: string): readonly string[] =>
  own.choices[category] ?? profileOf(template, category)?.t1 ?? [];

/** The tasks of a plan for the engine, each with the members that always answer. */
export const requestedTasks = (view: CommitteeView, tasks: readonly PlannedTask[]): readonly RequestedTask[] =>
  tasks.flatMap((spec) => {
    if (!isExpert(spec.capability))
      return [{ spec, action: actionOf(spec, tasks), models: [], learn: 'settled' as const, stream: 'held' as const }];
    const category = spec.capability.slice('expert.'.length);
    const live = isShownLive(view, category);
    const requested: RequestedTask = {
      spec,
      action: actionOf(spec, tasks),
      models: [...firstTier(view, category)],
      learn: 'settled',
      stream: live ? 'live' : 'held',
      ...(live ? { composes: true } : {}),
    };
    const always = profileOf(view.template, category)?.always ?? [];
    return [requested, ...always.map((model, index) => askedOf(spec, `a${index + 1}`, [model], { tier: 'always' }))];
  });

/** The question of a planned task, asked of others. A planner cannot use such an id. */
const askedOf = (spec: PlannedTask, mark: string, models: readonly string[], more: Partial<RequestedTask>): RequestedTask => ({
  spec: { ...spec, id: `${spec.id}~${mark}` },
  action: null,
  models: [...models],
  learn: 'settled',
  stream: 'held',
  origin: spec.id,
  ...more,
});

/** Whether the only expert of a trivial question may stream its reply: not if a later step may change it. */
function isShownLive(view: CommitteeView, category: string): boolean {
  if (view.own.complexity !== 'trivial') return false;
  const reviewed = view.template.critic?.categories ?? [];
  const mayBeReviewed = reviewed.includes(category) || (reviewed.length > 0 && view.own.safety.length > 0);
  return !hasSecondTier(view, category) && !mayBeReviewed;
}

/** Asks the second tier if a first-tier expert was unsure or failed, and reports it. */
export function escalate(view: CommitteeView, ref: string, task: TaskState): readonly Move[] {
  const { result, spec } = task;
  const isFirst = isExpert(spec.capability) && (task.tier ?? 't1') === 't1' && !task.helper;
  if (!isFirst || !result || result.status === 'repeated' || result.status === 'cancelled') return [];
  if (result.failure?.code === 'ALLOWANCE_EXHAUSTED') return [];
  if (result.status === 'ok' && confidenceOf(task) >= sureFrom) return [];
  const category = categoryOf(task);
  if (!hasSecondTier(view, category) || view.budget === 'reserve' || view.budget === 'spent') return [];
  const why = result.status === 'ok' ? `unsure (${result.confidence ?? 'no confidence'}, needs ${sureFrom})` : 'without an answer';
  const text = `The ${category.replaceAll('_', ' ')} expert is ${why}: a model of the second tier is asked`;
  const second = askedOf(spec, 't2', profileOf(view.template, category)?.t2 ?? [], { tier: 't2' });
  return [
    { do: 'note', code: 'expert.tier', text, taskId: ref },
    { do: 'dispatch', tasks: [second] },
  ];
}

/** Experts with hints from the judge, asked again within the round. Their answers count once they score better. */
export const againOf = ({ own, run }: CommitteeView): readonly RequestedTask[] =>
  Object.entries(own.hints).flatMap(([ref, hint]) => {
    const task = run.tasks[ref];
    if (!task || hint === '') return [];
    const { spec, origin = spec.id, models, tier } = task;
    const more = { learn: 'accepted', ...(tier ? { tier } : {}), again: ref, hints: hint } as const;
    return [askedOf({ ...spec, id: origin }, `r${own.refined}`, models, more)];
  });

/** Longest id of a task. */
const longestId = 32;
/** The end of a long category is what tells it from another one, so the place of the referral takes it. */
const referralId = (category: string, at: number): string => {
  const id = `refer-${category}`;
  return id.length <= longestId ? id : `${id.slice(0, longestId - 3)}-${at}`;
};

/**
 * Adds the categories that experts of the previous round referred to: each gets the goal and all evidence of the new
 * plan, unless the plan already asks it, the template has no such category, or the plan is full.
 */
export function withReferrals({ run, template }: CommitteeView, tasks: readonly PlannedTask[]): readonly PlannedTask[] {
  const before = tasksOf(run, run.epoch - 1).map(([, task]) => task);
  const asked = new Set([...before.map((task) => task.spec.capability), ...tasks.map((task) => task.capability)]);
  const referred = new Set(before.flatMap((task) => task.result?.refer ?? []));
  const room = maxExpertTasks - tasks.filter((task) => isExpert(task.capability)).length;
  const evidence = tasks.filter((task) => !isExpert(task.capability)).map((task) => task.id);
  const added = [...referred]
    .filter((category) => Object.hasOwn(template.experts, category) && !asked.has(`expert.${category}`))
    .slice(0, Math.max(0, room))
    .map((category, at): PlannedTask => ({
      id: referralId(category, at),
      capability: `expert.${category}`,
      task: run.gap === '' ? run.request.goal : run.gap,
      query: null,
      needs: evidence,
      metadata_filters: null,
    }));
  return [...tasks, ...added.filter((task) => !tasks.some((planned) => planned.id === task.id))];
}
