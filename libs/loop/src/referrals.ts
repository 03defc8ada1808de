import type { PlannedTask } from '@conclave/contracts';
import { isExpert, maxExpertTasks } from './plan-rules.js';
import { tasksOf, type BornRun } from './state.js';

/**
 * A plan with the categories that experts of the round before referred to (moe.md, Experts): each gets the goal and all
 * evidence of the new plan, unless the plan asks it anyway, the template has no such category, or the plan is full.
 */
export function withReferrals(run: BornRun, tasks: readonly PlannedTask[]): readonly PlannedTask[] {
  const before = tasksOf(run, run.epoch - 1).map(([, task]) => task);
  const asked = new Set([...before.map((task) => task.spec.capability), ...tasks.map((task) => task.capability)]);
  const referred = new Set(before.flatMap((task) => task.result?.refer ?? []));
  const room = maxExpertTasks - tasks.filter((task) => isExpert(task.capability)).length;
  const evidence = tasks.filter((task) => !isExpert(task.capability)).map((task) => task.id);
  const added = [...referred]
    .filter((category) => Object.hasOwn(run.template.experts, category) && !asked.has(`expert.${category}`))
    .slice(0, Math.max(0, room))
    .map((category): PlannedTask => ({
      id: `refer-${category}`.slice(0, 32),
      capability: `expert.${category}`,
      task: run.gap === '' ? run.goal : run.gap,
      query: null,
      needs: evidence,
      metadata_filters: null,
    }));
  return [...tasks, ...added.filter((task) => !tasks.some((planned) => planned.id === task.id))];
}
