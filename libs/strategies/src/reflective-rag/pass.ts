import type { PlannedTask, TaskInputDraft, RequestedTask } from '@conclave/contracts';
import { currentFacts, isJudge, tasksOf, type Move, type TaskState } from '@conclave/loop';
import * as z from 'zod';
import { chunksInput, discoverInput, documentInput } from '../capabilities/collections.js';
import { inputOfTask } from '../capabilities/declared.js';
import { furtherOf } from '../capabilities/further.js';
import { judges } from './judges.js';
import { bestPassages, type RagView } from './own.js';
import { lastResort } from '../without-plan.js';
import { optionsOf, searchPlace, type DiscoveredDocument, type RagContent } from './rag-shapes.js';

/** Arguments of the tasks of a pass. */
const SearchArgs = z.object({ collection: z.string(), documents: z.array(z.string()).optional() });
const DiscoverArgs = z.object({ collections: z.array(z.string()) });
const ReadArgs = z.object({ collection: z.string(), document: z.string(), passage: z.int() });

/** Most characters of an id that are taken from a name. */
const inId = 20;

type Spec = Pick<PlannedTask, 'id' | 'capability' | 'task'> & Partial<PlannedTask>;

/** A retrieval task. Its passages are not facts yet, and its actions are compared with those of earlier passes. */
function retrieval(spec: Spec, action: NonNullable<RequestedTask['action']>): RequestedTask {
  const whole = { query: null, needs: [], metadata_filters: null, ...spec };
  return { spec: whole, action, models: [], learn: 'never', stream: 'held' };
}

/** Passages of one place for the query, of some documents or of all. */
function search(place: string, n: number, query: string, documents?: readonly string[]): RequestedTask {
  if (place === searchPlace)
    return retrieval(
      { id: 'search', capability: 'research', task: `Search: ${query}`, query },
      { capability: 'research', argument: query },
    );
  const id = `c${n + 1}-${place.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, inId)}`;
  const args = { collection: place, ...(documents ? { documents: [...documents] } : {}) };
  // The same words in another collection, or in other documents of it, are another search.
  const capability = `collections of ${place}${documents ? ` in ${[...documents].sort().join(' ')}` : ''}`;
  return retrieval({ id, capability: 'collections', task: `Look in ${place}: ${query}`, query, args }, { capability, argument: query });
}

function discover(collections: readonly string[], query: string): RequestedTask {
  return retrieval(
    {
      id: 'discover',
      capability: 'collections.discover',
      task: `Find documents: ${query}`,
      query,
      args: { collections: [...collections] },
    },
    { capability: `documents of ${[...collections].sort().join(' ')}`, argument: query },
  );
}

function read({ collection, document, passage, title }: DiscoveredDocument, query: string): RequestedTask {
  return retrieval(
    { id: 'read', capability: 'collections.read', task: `Read: ${title}`, query, args: { collection, document, passage } },
    { capability: 'collections.read', argument: `${collection}/${document}`, exact: true },
  );
}

const collectionsOf = ({ collections }: RagContent): readonly string[] => collections.filter((name) => name !== searchPlace);
const searchEverywhere = ({ collections, query }: RagContent): readonly RequestedTask[] =>
  collections.map((name, n) => search(name, n, query));

/** The first tasks of a pass: a factual question is searched for at once, any other looks for documents first. */
export function beginning(content: RagContent): readonly Move[] {
  const { query } = content;
  const collections = collectionsOf(content);
  if (content.class === 'factual' || collections.length === 0)
    return [
      { do: 'note', stage: 'retrieving', text: `Looks in ${content.collections.join(', ')}` },
      { do: 'dispatch', tasks: searchEverywhere(content) },
    ];
  const searches = content.collections.includes(searchPlace) ? [search(searchPlace, 0, query)] : [];
  return [
    { do: 'note', stage: 'discovering', text: `Looks for documents in ${collections.join(', ')}` },
    { do: 'dispatch', tasks: [discover(collections, query), ...searches] },
  ];
}

const localIds = (view: RagView): readonly string[] => tasksOf(view.run, view.run.epoch).map(([, { spec }]) => spec.id);

/** The next moves of an open pass: to look inside the documents that were found, then to take facts; null once both are done. */
export function following(view: RagView): readonly Move[] | null {
  const { own, template } = view;
  const ids = localIds(view);
  const hasLookedInside = ids.some((id) => id === 'read' || id.startsWith('c'));
  if (ids.includes('discover') && !hasLookedInside) return inside(view);
  if (ids.includes('judge.facts') || own.passages.length === 0) return null;
  const count = bestPassages(own).length;
  const spec = { id: 'judge.facts', capability: 'judge.facts', task: judges.facts.task, query: null, needs: [], metadata_filters: null };
  const requested: RequestedTask = {
    spec,
    action: null,
    models: template.judge.models,
    learn: 'settled',
    stream: 'held',
    ...lastResort(view),
  };
  return [
    { do: 'note', stage: 'summarizing', text: `Takes facts from ${count === 1 ? '1 passage' : `${count} passages`}` },
    { do: 'dispatch', tasks: [requested] },
  ];
}

/** A deep question reads the best document that no earlier pass has read; any other looks inside the found documents. */
function inside({ run, own }: RagView): readonly Move[] {
  const content = own.content!;
  const { query } = content;
  if (content.class === 'deep_dive') {
    const before = new Set(
      Object.values(run.tasks).flatMap(({ action, epoch }) =>
        action?.capability === 'collections.read' && epoch < run.epoch ? [action.argument] : [],
      ),
    );
    const best = own.documents.find(({ collection, document }) => !before.has(`${collection}/${document}`));
    if (best)
      return [
        { do: 'note', stage: 'reading', text: `Reads ${best.title}` },
        { do: 'dispatch', tasks: [read(best, query)] },
      ];
  }
  const tasks = collectionsOf(content).flatMap((name, n) => {
    const documents = own.documents.filter(({ collection }) => collection === name).map(({ document }) => document);
    return own.documents.length === 0 ? [search(name, n, query)] : documents.length > 0 ? [search(name, n, query, documents)] : [];
  });
  const found = own.documents.length === 1 ? '1 document' : `${own.documents.length} documents`;
  const text = own.documents.length === 0 ? `Looks in ${collectionsOf(content).join(', ')}` : `Looks in ${found}`;
  return [
    { do: 'note', stage: 'retrieving', text },
    { do: 'dispatch', tasks },
  ];
}

/** Input of a task of a pass. */
export function passInput({ run, template }: RagView, task: TaskState): TaskInputDraft {
  const { spec } = task;
  const { chunks, documents, characters } = optionsOf(template);
  const query = spec.query ?? run.request.goal;
  switch (spec.capability) {
    case 'collections': {
      const { collection, documents: some } = SearchArgs.parse(spec.args);
      const inside = some ? { documents: some } : {};
      return chunksInput({ query, collections: [collection], limit: chunks, ...inside, ...furtherOf(run, task.epoch) });
    }
    case 'collections.discover':
      return discoverInput({ query, collections: DiscoverArgs.parse(spec.args).collections, limit: documents });
    case 'collections.read':
      return documentInput({ ...ReadArgs.parse(spec.args), maxCharacters: characters });
    default:
      return inputOfTask({ run, template, task, filters: {} });
  }
}

/** One line about a pass and its facts, for the history. */
export function passSummary({ run, own }: RagView): { readonly planSummary: string; readonly findings: string } {
  const { content } = own;
  const found = currentFacts(run.memory).filter(({ epoch }) => epoch === run.epoch);
  const failed = tasksOf(run, run.epoch).filter(([, task]) => !isJudge(task) && task.result?.failure);
  return {
    planSummary: content ? `${content.class}, in ${content.collections.join(', ')}: ${content.query}` : '',
    findings:
      found.map(({ text }) => text.slice(0, 300)).join('; ') ||
      (failed.length > 0
        ? failed.map(([, { spec, result }]) => `${spec.task}: ${result!.failure!.message}`).join('; ')
        : 'Nothing new was found.'),
  };
}
