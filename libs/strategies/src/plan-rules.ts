import type { Complexity, PlannedTask, PlanRequested, Template } from '@conclave/contracts';
import { actionKey, canonicalJson, isExpert, type Action } from '@conclave/loop';

/** Maximum number of expert and evidence tasks in a moderate plan. */
export const maxExpertTasks = 4;
export const maxEvidenceTasks = 4;

/** Maximum number of expert tasks in a plan; a complex question may ask every category of its template. */
export const mostExperts = (template: Template, complexity: Complexity): number =>
  complexity === 'trivial' ? 1 : complexity === 'complex' ? Math.max(maxExpertTasks, Object.keys(template.experts).length) : maxExpertTasks;

/** Capabilities a plan for this template may name. */
export const capabilitiesOf = (template: Template): readonly string[] => [
  ...Object.keys(template.experts).map((category) => `expert.${category}`),
  ...template.capabilities,
];

/**
 * All faults of a plan, as sentences a model can act on; empty for a valid plan. `faultsOf` returns the faults of a single task by the
 * rules of its capability.
 */
export function planFaults(
  tasks: readonly PlannedTask[],
  template: Template,
  complexity: Complexity = 'moderate',
  faultsOf: (task: PlannedTask) => readonly string[] = () => [],
): readonly string[] {
  const faults: string[] = [];
  if (tasks.length === 0) faults.push('The plan has no task. Give at least one.');
  const allowed = new Set(capabilitiesOf(template));
  const ids = new Set<string>();
  for (const task of tasks) {
    if (ids.has(task.id)) faults.push(`The id "${task.id}" is used twice. Give every task its own id.`);
    ids.add(task.id);
    if (!allowed.has(task.capability))
      faults.push(`Task "${task.id}" names the unknown capability "${task.capability}". Use one of: ${[...allowed].join(', ')}.`);
    faults.push(...faultsOf(task));
  }
  for (const task of tasks)
    for (const need of task.needs) if (!ids.has(need)) faults.push(`Task "${task.id}" needs "${need}", which is not in the plan.`);
  const experts = tasks.filter((task) => isExpert(task.capability)).length;
  const most = mostExperts(template, complexity);
  if (experts > most) faults.push(`The plan has ${experts} expert tasks; at most ${most} are allowed.`);
  // One `graph` task comes with any plan: it calls no model and does not count towards the limit.
  const evidence = tasks.length - experts - (tasks.some((task) => task.capability === 'graph') ? 1 : 0);
  if (evidence > maxEvidenceTasks) faults.push(`The plan has ${evidence} evidence tasks; at most ${maxEvidenceTasks} are allowed.`);
  if (faults.length === 0 && hasCycle(tasks)) faults.push('The needs of the tasks form a circle. Remove one of them.');
  return faults;
}

/** Whether tasks wait for each other; every need has to be in the plan. */
export function hasCycle(tasks: readonly PlannedTask[]): boolean {
  const waiting = new Map(tasks.map((task) => [task.id, new Set(task.needs)]));
  for (let progress = true; progress;) {
    progress = false;
    for (const [id, needs] of waiting) {
      if (needs.size > 0) continue;
      waiting.delete(id);
      for (const others of waiting.values()) others.delete(id);
      progress = true;
    }
  }
  return waiting.size > 0;
}

/** Tasks ordered after their dependencies; a plan has no cycles. */
export function inOrderOfNeeds(tasks: readonly PlannedTask[]): readonly PlannedTask[] {
  const ordered: PlannedTask[] = [];
  const place = (task: PlannedTask): void => {
    if (ordered.includes(task)) return;
    for (const need of task.needs) place(tasks.find((other) => other.id === need)!);
    ordered.push(task);
  };
  tasks.forEach(place);
  return ordered;
}

/**
 * A plan with equal tasks (same action) merged; dependencies on a removed task point to the remaining one. Of equal tasks the first in
 * dependency order stays, so that no task depends on itself.
 */
export function dedupe(tasks: readonly PlannedTask[]): readonly PlannedTask[] {
  const firstOf = new Map<string, string>();
  const twinOf = new Map<string, string>();
  for (const task of inOrderOfNeeds(tasks)) {
    const action = actionKey(actionOf(task, tasks));
    const first = firstOf.get(action);
    if (first === undefined) firstOf.set(action, task.id);
    else twinOf.set(task.id, first);
  }
  if (twinOf.size === 0) return tasks;
  return tasks
    .filter((task) => !twinOf.has(task.id))
    .map((task) => ({ ...task, needs: [...new Set(task.needs.map((need) => twinOf.get(need) ?? need))] }));
}

/** The single task of a question that one expert answers: of its category, if the template has one. */
export function trivialTask({ goal, template }: Pick<PlanRequested['data'], 'goal' | 'template'>, category: string | null): PlannedTask {
  const known = category !== null && Object.hasOwn(template.experts, category) ? category : 'general';
  return { id: 'x1', capability: `expert.${known}`, task: goal, query: null, needs: [], metadata_filters: null };
}

/** The tasks used if the planner returns none: one general task on the goal, after the named searches for `query`. */
export function fallbackTasks(goal: string, searches: readonly string[] = [], query = goal): readonly PlannedTask[] {
  const found = searches.map((capability): PlannedTask => {
    const id = `fallback-${capability}`;
    return { id, capability, task: query, query, needs: [], metadata_filters: null };
  });
  const needs = found.map(({ id }) => id);
  return [...found, { id: 'fallback', capability: 'expert.general', task: goal, query: null, needs, metadata_filters: null }];
}

/** Capabilities that do exactly what their arguments say. */
const deterministic: ReadonlySet<string> = new Set(['mcp', 'math']);
/** If a task has none of these arguments, its text says what to calculate. */
const formulas = ['expression', 'equations', 'matrix'] as const;

/**
 * A task's action: a call with its arguments as canonical JSON; a query; or an instruction with the actions whose results it builds on,
 * because the same instruction about other evidence is another action.
 */
export function actionOf(task: PlannedTask, plan: readonly PlannedTask[]): Action {
  const { capability } = task;
  const args = task.args ?? {};
  const hasArgs = Object.keys(args).length > 0;
  if (hasArgs || deterministic.has(capability)) {
    const inWords = !hasArgs || (capability === 'math' && !formulas.some((name) => name in args));
    const parts = [task.tool, hasArgs ? canonicalJson(args) : null, inWords ? task.task : null];
    return { capability, argument: parts.filter(Boolean).join(' '), exact: true };
  }
  if (task.query) return { capability, argument: task.query };
  const evidence = evidenceOf(task, plan, new Set()).map((other) => actionOf({ ...other, needs: [] }, []).argument);
  return { capability, argument: [task.task, ...evidence].join(' | ') };
}

/** Every task that a task builds on, in plan order. */
function evidenceOf(task: PlannedTask, plan: readonly PlannedTask[], seen: Set<string>): readonly PlannedTask[] {
  const reach = (of: PlannedTask): void => {
    for (const need of of.needs) {
      const other = plan.find(({ id }) => id === need);
      if (!other || seen.has(need)) continue;
      seen.add(need);
      reach(other);
    }
  };
  reach(task);
  return plan.filter(({ id }) => seen.has(id));
}
