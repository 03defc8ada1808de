import type { Attachment, Complexity, PlannedTask, Template } from '@conclave/contracts';
import { isExpert } from '@conclave/loop';
import { mostExperts } from './plan-rules.js';

export const visionCategory = 'vision';
const capability = `expert.${visionCategory}`;

export const hasImage = (attachments: readonly Attachment[] | undefined): boolean =>
  (attachments ?? []).some(({ kind }) => kind === 'image');

/** Whether an expert of this template can read images. */
export const canSee = (template: Pick<Template, 'experts'>): boolean => Object.hasOwn(template.experts, visionCategory);

interface RequestWithImages {
  readonly goal: string;
  readonly template: Template;
  readonly attachments?: readonly Attachment[] | undefined;
}

/**
 * Ensures that a first plan has a vision task for the images. A missing one is put first and every other expert waits for it, since
 * no other expert sees the images; in a full plan the general expert (else the last one) becomes the vision task.
 */
export function withVision(
  tasks: readonly PlannedTask[],
  { goal, template, attachments }: RequestWithImages,
  complexity: Complexity,
): readonly PlannedTask[] {
  if (!hasImage(attachments) || !canSee(template) || tasks.some((task) => task.capability === capability)) return tasks;
  const experts = tasks.filter((task) => isExpert(task.capability));
  if (experts.length >= mostExperts(template, complexity)) {
    const routed = experts.find((task) => task.capability === 'expert.general') ?? experts.at(-1);
    return tasks.map((task) => (task === routed ? { ...task, capability } : task));
  }
  const id = freeId(tasks);
  const look: PlannedTask = {
    id,
    capability,
    task: `Look at what is attached and say what matters for the question: ${goal}`,
    query: null,
    needs: [],
    metadata_filters: null,
  };
  return [look, ...tasks.map((task) => (isExpert(task.capability) ? { ...task, needs: [...task.needs, id] } : task))];
}

function freeId(tasks: readonly PlannedTask[]): string {
  let id = 'look';
  for (let n = 2; tasks.some((task) => task.id === id); n += 1) id = `look${n}`;
  return id;
}
