import { bounded, oneLine } from '../prompts/quoting.js';
import { defineCapability } from './declaration.js';
import { searchResults } from './research.js';

export const collections = defineCapability({
  name: 'collections',
  aliases: ['collection', 'documents'],
  forPlanner: 'searches uploaded documents; give `search_query`. Collections:',
  listed: ({ collections: offered = [] }) => offered.map(({ name, description }) => `${name}: ${oneLine(bounded(description, 160))}`),
  query: 'instruction',
  input: ({ task: { spec }, template, filters }) => ({
    kind: 'collections',
    query: spec.query ?? spec.task,
    collections: (template.collections ?? []).map(({ name }) => name),
    filters,
    limit: searchResults,
  }),
  taskClass: 'evidence',
});
