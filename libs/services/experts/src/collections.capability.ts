import { counted, type Fact, type TaskDispatched, type TaskInput } from '@conclave/contracts';
import type { Embedder, Reranking, Vectors } from '@conclave/ports';
import { answerByTool, appendThoughts, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import { discoverDocuments, FoundDocuments, DocumentExcerpt, readDocument } from './collection-documents.js';
import { Chunks, searchReranked } from './collection-search.js';

type InputOf<K extends TaskInput['kind']> = Extract<TaskInput, { kind: K }>;

/**
 * `collections`: passages of uploaded documents by the words and the meaning of a query. Its operations: `collections.discover` finds documents
 * that are worth reading, `collections.read` reads one.
 */
export function collectionsCapability(
  maker: Calls,
  stream: ShownIn,
  vectors: Vectors,
  embedder: Embedder,
  reranking: Reranking | null = null,
): Capability {
  const begins = (task: TaskDispatched, text: string) => async (attempt: number) => {
    const { taskId } = task.data;
    await stream.append(task.runId, [{ kind: 'progress', taskId, attempt, n: 0, code: 'research.query', text }]);
  };
  const says = (task: TaskDispatched, attempt: number, text: string, detail: string): Promise<void> =>
    appendThoughts(stream, task, attempt, [{ n: 1, code: 'research.result', text, detail }]);

  const search =
    (input: InputOf<'collections'>): Capability =>
    async (context) => {
      const { task } = context;
      const { query, collections } = input;
      const { kind: _, ...request } = input;
      return answerByTool(
        maker,
        context,
        { name: 'collections.search', request, onBegun: begins(task, `Searches ${collections.join(', ')} for: ${query}`) },
        (running) => searchReranked(reranking, vectors, embedder, task.data.tenant, input, running),
        async ({ content, attempt }) => {
          const { chunks, unknownKeys, missing, notes: said } = Chunks.parse(JSON.parse(content));
          const detail = chunks.map(({ title, text }) => `${title}\n${text}`).join('\n\n');
          await says(task, attempt, `Documents: ${counted(chunks.length, 'passage')}`, detail);
          const facts = chunks.map((chunk) => factOf(task, chunk));
          const notes = [...unknownKeys.map((key) => `No document has the filter "${key}".`), ...missing.map(noCollection), ...said];
          return { status: 'ok', output: { kind: 'evidence', facts, notes }, sources: facts.map(({ source }) => source) };
        },
      );
    };

  const discover =
    (input: InputOf<'discover'>): Capability =>
    async (context) => {
      const { task } = context;
      const { kind: _, ...request } = input;
      return answerByTool(
        maker,
        context,
        {
          name: 'collections.discover',
          request,
          onBegun: begins(task, `Looks in ${input.collections.join(', ')} for documents about: ${input.query}`),
        },
        (running) => discoverDocuments(vectors, embedder, task.data.tenant, input, running),
        async ({ content, attempt }) => {
          const { documents } = FoundDocuments.parse(JSON.parse(content));
          const detail = documents.map(({ title, text }) => `${title}\n${text}`).join('\n\n');
          await says(task, attempt, `Found: ${counted(documents.length, 'document')}`, detail);
          return { status: 'ok', output: { kind: 'values', values: { documents } }, sources: [] };
        },
      );
    };

  const read =
    (input: InputOf<'document'>): Capability =>
    async (context) => {
      const { task } = context;
      const { collection, document } = input;
      const { kind: _, ...request } = input;
      return answerByTool(
        maker,
        context,
        { name: 'collections.read', request, onBegun: begins(task, `Reads a document of ${collection}`) },
        () => readDocument(vectors, embedder, task.data.tenant, input),
        async ({ content, attempt }) => {
          const { title, text, whole } = DocumentExcerpt.parse(JSON.parse(content));
          if (text === '') {
            await says(task, attempt, 'The document does not exist', '');
            return { status: 'ok', output: { kind: 'evidence', facts: [], notes: [`There is no document "${document}".`] }, sources: [] };
          }
          await says(task, attempt, `Read: ${title}, ${counted(text.length, 'character')}${whole ? '' : ' of a longer text'}`, text);
          const fact = factOf(task, { text, title, collection, document });
          const notes = whole ? [] : [`Only ${text.length} characters of "${title}" were read.`];
          return { status: 'ok', output: { kind: 'evidence', facts: [fact], notes }, sources: [fact.source] };
        },
      );
    };

  return (context) => {
    const { input } = context.task.data;
    if (input.kind === 'discover') return discover(input)(context);
    return input.kind === 'document' ? read(input)(context) : search(input as InputOf<'collections'>)(context);
  };
}

const noCollection = (name: string): string => `There is no collection "${name}".`;

function factOf(
  { data: { taskId, epoch } }: TaskDispatched,
  {
    text,
    title,
    collection,
    document,
    section = '',
  }: {
    readonly text: string;
    readonly title: string;
    readonly collection: string;
    readonly document: string;
    readonly section?: string;
  },
): Fact {
  const at = document === '' ? {} : { document: `${collection}/${document}` };
  return {
    text,
    source: { kind: 'collection', title, url: null, ...at, ...(section === '' ? {} : { section }) },
    taskId,
    epoch,
    confidence: null,
  };
}
