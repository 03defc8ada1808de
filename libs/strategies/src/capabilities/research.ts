import { defineCapability } from './declaration.js';
import { furtherOf } from './further.js';

/** Hits requested from a search. */
export const searchResults = 5;

export const research = defineCapability({
  name: 'research',
  aliases: ['web_researcher', 'web_research', 'web_search', 'search'],
  forPlanner: 'searches documents or the web; give `search_query`, a few concrete words',
  query: 'instruction',
  faults: ({ id, query }) => (query ? [] : [`Research task "${id}" has no search_query.`]),
  input: ({ run, task: { spec, epoch } }) => ({
    kind: 'research',
    task: spec.task,
    query: spec.query ?? spec.task,
    limit: searchResults,
    ...furtherOf(run, epoch),
  }),
  taskClass: 'evidence',
});
