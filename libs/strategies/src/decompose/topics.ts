import { Synthesis, type PlannedTask, type Template } from '@conclave/contracts';
import * as z from 'zod';

/** Most sub-topics of a question. */
export const mostTopics = 4;

/** Options of the strategy in a template. */
export const DecomposeOptions = z.strictObject({
  max_topics: z.int().min(1).max(mostTopics).default(mostTopics).describe('sub-topics that are researched at the same time'),
  passages: z.int().min(1).max(20).default(3).describe('passages that each sub-topic reads from each collection'),
  child: z
    .string()
    .min(1)
    .optional()
    .describe(
      'template that works on each sub-topic as a separate run, on the budget of this one; absent: sub-topics are searched and summarised',
    ),
});
export type DecomposeOptions = z.infer<typeof DecomposeOptions>;

/** Options of the run's template, with defaults. */
export const optionsOf = ({ options }: Pick<Template, 'options'>): DecomposeOptions => DecomposeOptions.parse(options ?? {});

/** Content of a plan besides its sub-topics, which are its tasks. */
export const TopicsContent = z.object({ synthesis: Synthesis.describe('how the results become one answer') });

/** Input of the planner besides the request. */
export const TopicsAsked = z.object({
  most: z.int().positive(),
  collections: z.array(z.object({ name: z.string(), description: z.string() })),
});
export type TopicsAsked = z.infer<typeof TopicsAsked>;

/** Capability of a sub-topic. */
export const subtopicCapability = 'subtopic';

/** A sub-topic as a task of the plan. */
export const topicTask = (n: number, topic: string, query: string, collections: readonly string[]): PlannedTask => ({
  id: `t${n}`,
  capability: subtopicCapability,
  task: topic,
  query,
  needs: [],
  args: { collections: [...collections] },
  metadata_filters: null,
});

/** Collections that a sub-topic names; empty means all. */
export const collectionsIn = ({ args }: Pick<PlannedTask, 'args'>): readonly string[] =>
  Array.isArray(args?.['collections']) ? args['collections'].filter((name) => typeof name === 'string') : [];

/** Faults of a plan, as sentences. */
export function topicFaults(tasks: readonly PlannedTask[], most: number): readonly string[] {
  const ids = new Set(tasks.map(({ id }) => id));
  return [
    ...(tasks.length === 0 ? ['The plan has no sub-topic. Name at least one.'] : []),
    ...(tasks.length > most ? [`The plan has ${tasks.length} sub-topics; at most ${most} are allowed.`] : []),
    ...(ids.size < tasks.length ? ['Two sub-topics have the same id.'] : []),
    ...tasks.filter(({ capability }) => capability !== subtopicCapability).map(({ id }) => `"${id}" is no sub-topic.`),
    ...tasks.filter(({ needs }) => needs.length > 0).map(({ id }) => `The sub-topic "${id}" waits for another one.`),
  ];
}
