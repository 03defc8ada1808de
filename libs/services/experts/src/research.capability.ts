import { z } from 'zod';
import type { Fact, TaskInput } from '@conclave/contracts';
import type { Search } from '@conclave/ports';
import { failedStatus, note, type Calls, type Capability, type ShownIn } from '@conclave/service-calls';

const Hits = z.array(z.object({ title: z.string(), url: z.string().nullable(), snippet: z.string() }));

/** `research`: one search; each hit becomes a sourced fact. */
export const researchCapability =
  (maker: Calls, stream: ShownIn, search: Search): Capability =>
  async ({ task, signal, deadline }) => {
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'research' }>;
    const end = await maker.tool(
      {
        runId: task.runId,
        owner: data.taskId,
        index: 0,
        purpose: data.capability,
        name: `search.${search.kind}`,
        request: { query: input.query, limit: input.limit },
        deadline,
        signal,
        onBegun: async (attempt) => {
          await stream.append(task.runId, [
            { kind: 'progress', taskId: data.taskId, attempt, n: 0, code: 'research.query', text: `searches for: ${input.query}` },
          ]);
        },
      },
      async (running) => JSON.stringify(await search.query({ query: input.query, limit: input.limit, signal: running })),
    );
    if (end.kind === 'busy') return { deferMs: end.retryInMs };
    const { attempt } = end;
    const records = end.record ? [end.record] : [];
    if (end.kind === 'cancelled')
      return { result: { status: 'cancelled', failure: note('CALL_CANCELLED', 'The task was cancelled.'), attempt }, records };
    if (end.kind === 'failed') return { result: { status: failedStatus(end.failure), failure: end.failure, attempt }, records };
    const facts = Hits.parse(JSON.parse(end.reply.content))
      .filter((hit) => hit.snippet.trim() !== '')
      .map((hit): Fact => ({
        text: hit.snippet,
        source: { kind: search.kind, title: hit.title, url: hit.url },
        taskId: data.taskId,
        epoch: data.epoch,
        confidence: null,
      }));
    return { result: { status: 'ok', output: { kind: 'evidence', facts }, sources: facts.map((fact) => fact.source), attempt }, records };
  };
