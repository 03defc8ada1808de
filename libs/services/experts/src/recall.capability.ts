import type { Fact, TaskInput } from '@conclave/contracts';
import { answerByTool, appendThoughts, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import { collectionOf, resultsPurpose, type Embedder, type Vectors } from '@conclave/ports';
import * as z from 'zod';
import { farthest } from './collection-search.js';

const Given = z.object({ query: z.string(), limit: z.int().positive() });
const Recalled = z.array(z.object({ text: z.string(), title: z.string() }));

/** `recall`: the results of earlier runs of the tenant that are nearest to a query in meaning. */
export const recallCapability =
  (maker: Calls, stream: ShownIn, vectors: Vectors, embedder: Embedder): Capability =>
  (context) => {
    const { task } = context;
    const { data } = task;
    const { query, limit } = Given.parse((data.input as Extract<TaskInput, { kind: 'values' }>).values);
    return answerByTool(
      maker,
      context,
      { name: 'results.recall', request: { query, limit }, onBegun: () => Promise.resolve() },
      async (signal): Promise<z.infer<typeof Recalled>> => {
        const scope = { tenant: data.tenant, collection: collectionOf(resultsPurpose, embedder) };
        if (!(await vectors.list(data.tenant)).some(({ name }) => name === scope.collection)) return [];
        const [vector] = await embedder.embed([query], { signal });
        const { hits } = await vectors.query(scope, { vector: vector!, limit, signal });
        return hits
          .filter(({ distance }) => distance <= farthest)
          .map(({ text, metadata }) => ({ text, title: String(metadata['about'] ?? 'an earlier run') }));
      },
      async ({ content, attempt }) => {
        const recalled = Recalled.parse(JSON.parse(content));
        const text = `Recalls ${recalled.length} ${recalled.length === 1 ? 'result' : 'results'} of earlier runs`;
        await appendThoughts(stream, task, attempt, [{ n: 0, code: 'graph.context', text, detail: content }]);
        const facts = recalled.map(({ text: said, title }): Fact => ({
          text: said,
          source: { kind: 'memory', title, url: null },
          taskId: data.taskId,
          epoch: data.epoch,
          confidence: null,
        }));
        return { status: 'ok', output: { kind: 'evidence', facts }, sources: facts.map(({ source }) => source) };
      },
    );
  };
