import type { Fact, TaskInput } from '@conclave/contracts';
import type { Embedder, Vectors } from '@conclave/ports';
import { answerByTool, appendThoughts, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import { Chunks, searchCollections } from './collection-search.js';

/** `collections`: the chunks of uploaded documents most relevant to a query, by its words and by its meaning. */
export const collectionsCapability =
  (maker: Calls, stream: ShownIn, vectors: Vectors, embedder: Embedder): Capability =>
  async (context) => {
    const { task } = context;
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'collections' }>;
    return answerByTool(
      maker,
      context,
      {
        name: 'collections.search',
        request: { query: input.query, collections: input.collections, filters: input.filters, limit: input.limit },
        onBegun: async (attempt) => {
          const text = `Searches ${input.collections.join(', ')} for: ${input.query}`;
          await stream.append(task.runId, [{ kind: 'progress', taskId: data.taskId, attempt, n: 0, code: 'research.query', text }]);
        },
      },
      (running) => searchCollections(vectors, embedder, data.tenant, input, running),
      async ({ content, attempt }) => {
        const { chunks, unknownKeys, missing } = Chunks.parse(JSON.parse(content));
        const detail = chunks.map(({ title, text }) => `${title}\n${text}`).join('\n\n');
        await appendThoughts(stream, task, attempt, [
          { n: 1, code: 'research.result', text: `Documents: ${chunks.length} ${chunks.length === 1 ? 'passage' : 'passages'}`, detail },
        ]);
        const facts = chunks.map(({ text, title }): Fact => ({
          text,
          source: { kind: 'collection', title, url: null },
          taskId: data.taskId,
          epoch: data.epoch,
          confidence: null,
        }));
        const notes = [
          ...unknownKeys.map((key) => `No document carries the filter "${key}".`),
          ...missing.map((name) => `There is no collection "${name}".`),
        ];
        return { status: 'ok', output: { kind: 'evidence', facts, notes }, sources: facts.map(({ source }) => source) };
      },
    );
  };
