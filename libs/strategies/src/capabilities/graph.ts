import { isExpert, tasksOf } from '@conclave/loop';
import { searchTextOf } from '../prompts/follow-up.js';
import { defineCapability, type TaskSource } from './declaration.js';

export const graph = defineCapability({
  name: 'graph',
  aliases: ['graphrag', 'knowledge_graph'],
  forPlanner: 'what earlier runs have learned about the things the question names',
  query: 'given',
  input: (source) => ({
    kind: 'graph',
    question: source.task.spec.query ?? searchTextOf(source.run.request, source.run.memory.searchQuestion),
    categories: [
      ...new Set(
        tasksOf(source.run, source.run.epoch)
          .filter(([, { spec }]) => isExpert(spec.capability))
          .map(([, { spec }]) => spec.capability.slice('expert.'.length)),
      ),
    ],
    filters: source.filters,
    maxCharacters: contextCharacters(source),
  }),
  taskClass: 'evidence',
});

/** Characters of graph context: a quarter of the judge's context (four characters to a token), at least 800 and at most 6,000. */
function contextCharacters({ template }: TaskSource): number {
  const judge = template.judge.models[0];
  const context = (judge && template.contexts[judge]) || 8_192;
  return Math.min(6_000, Math.max(800, context));
}
