import type { TaskInput, TaskInputDraft } from '@conclave/contracts';
import { bounded, oneLine } from '../prompts/quoting.js';
import { defineCapability } from './declaration.js';
import { furtherOf } from './further.js';
import { searchResults } from './research.js';

export const collections = defineCapability({
  name: 'collections',
  aliases: ['collection', 'documents'],
  forPlanner: 'searches uploaded documents; give `search_query`. Collections:',
  listed: ({ collections: offered = [] }) => offered.map(({ name, description }) => `${name}: ${oneLine(bounded(description, 160))}`),
  query: 'instruction',
  input: ({ run, task: { spec, epoch }, template, filters }) => ({
    kind: 'collections',
    query: spec.query ?? spec.task,
    collections: (template.collections ?? []).map(({ name }) => name),
    filters,
    limit: searchResults,
    ...furtherOf(run, epoch),
  }),
  taskClass: 'evidence',
});

type InputOf<K extends TaskInput['kind']> = Omit<Extract<TaskInput, { kind: K }>, 'kind'>;

/** Input of a search for passages, of the given documents or of all. */
export const chunksInput = (search: Omit<InputOf<'collections'>, 'filters'>): TaskInputDraft => ({
  kind: 'collections',
  filters: {},
  ...search,
});

/** Input of the operation `collections.discover`: the documents with the best passages. */
export const discoverInput = (search: InputOf<'discover'>): TaskInputDraft => ({ kind: 'discover', ...search });

/** Input of the operation `collections.read`: the text of one document. */
export const documentInput = (document: InputOf<'document'>): TaskInputDraft => ({ kind: 'document', ...document });
