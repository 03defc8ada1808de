import { z } from 'zod';
import type { Fact, TaskInput } from '@conclave/contracts';
import { documentsCollection, type Embedder, type Vectors } from '@conclave/ports';
import { answerByTool, thinkAloud, type Calls, type Capability, type ShownIn } from '@conclave/service-calls';

const Chunks = z.object({
  chunks: z.array(z.object({ collection: z.string(), text: z.string(), title: z.string(), document: z.string(), distance: z.number() })),
  unknownKeys: z.array(z.string()),
  missing: z.array(z.string()),
});

/** What is farther away than this has nothing to do with the query. Cosine distance. */
export const farthest = 0.85;

/** `collections`: the chunks of uploaded documents that are nearest to a query. */
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
      (running) => search(vectors, embedder, data.tenant, input, running),
      async ({ content, attempt }) => {
        const { chunks, unknownKeys, missing } = Chunks.parse(JSON.parse(content));
        const detail = chunks.map(({ title, text }) => `${title}\n${text}`).join('\n\n');
        await thinkAloud(stream, task, attempt, [
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

async function search(
  vectors: Vectors,
  embedder: Embedder,
  tenant: string,
  { query, collections, filters, limit }: Extract<TaskInput, { kind: 'collections' }>,
  signal: AbortSignal,
): Promise<z.infer<typeof Chunks>> {
  const [vector] = await embedder.embed([query], { signal });
  const known = new Set((await vectors.list(tenant)).map(({ name }) => name));
  const chunks: z.infer<typeof Chunks>['chunks'] = [];
  const unknown = new Set<string>();
  const there = collections.filter((name) => known.has(documentsCollection(name, embedder)));
  for (const collection of there) {
    const scope = { tenant, collection: documentsCollection(collection, embedder) };
    const found = await vectors.query(scope, { vector: vector!, limit, where: filters, signal });
    found.unknownKeys.forEach((key) => unknown.add(key));
    for (const { text, metadata, distance } of found.hits)
      if (distance <= farthest)
        chunks.push({
          collection,
          text,
          distance,
          title: String(metadata['title'] ?? metadata['document'] ?? collection),
          document: String(metadata['document'] ?? ''),
        });
  }
  chunks.sort((a, b) => a.distance - b.distance);
  return {
    chunks: chunks.slice(0, limit * Math.max(1, there.length)),
    unknownKeys: [...unknown],
    missing: collections.filter((name) => !there.includes(name)),
  };
}
