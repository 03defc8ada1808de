import { specOf, taskTopic } from '@conclave/contracts';

/** Consumer group of a task class: every member serves the whole class. */
export const taskGroup = (taskClass: string): string => `tasks.${taskClass}`;

/** Service of a group, for labels and crash points: judges run in the merger's process, other classes are experts. */
export const serviceOfGroup = (group: string): string => {
  if (!group.startsWith('tasks.')) return group;
  return group === taskGroup('judge') ? 'merger' : 'experts';
};

export interface PlannedSubscription {
  readonly group: string;
  readonly topics: readonly string[];
  readonly taskClass: string | null;
}

/** Subscriptions for these event types: one group for the service, one for each task class. Throws for an undeclared type. */
export function planSubscriptions(service: string, types: readonly string[], classes: readonly string[]): readonly PlannedSubscription[] {
  const topics = new Set<string>();
  for (const type of types) {
    const spec = specOf(type);
    if (!spec) throw new Error(`${service} handles "${type}", but no such event is declared in libs/contracts.`);
    if (type !== 'TaskDispatched') topics.add(spec.topic);
  }
  const own: PlannedSubscription[] = topics.size > 0 ? [{ group: service, topics: [...topics], taskClass: null }] : [];
  if (!types.includes('TaskDispatched')) return own;
  return [...own, ...classes.map((name) => ({ group: taskGroup(name), topics: [taskTopic(name)], taskClass: name }))];
}
