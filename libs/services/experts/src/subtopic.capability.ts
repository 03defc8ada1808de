import type { Fact, Source, TaskDispatched, TaskInput, TaskOutput } from '@conclave/contracts';
import {
  answerByAsk,
  appendThoughts,
  earlyEnd,
  promptDetail,
  recordsOf,
  type CallEnd,
  type Calls,
  type Capability,
  type Performed,
  type ShownIn,
} from '@conclave/calls';
import { factsAsk, type CitedFacts, type Passage } from '@conclave/strategies';
import { distinctSources } from './distinct-sources.js';
import type { SubtopicCache } from './subtopic-cache.js';
import { FoundPassages, passageOf, passagesFor, type PassageSources } from './subtopic-passages.js';

/** Number of the search among the calls of its task: the model's calls come before it. */
const searchIndex = 999;

const fromCache = 'The facts come from the cache.';

/** What the cache said to a task with this result, for a replay; null if it said nothing. `found` is the recorded reply of its search. */
export function factsFromCache(found: string, output: TaskOutput | null): CitedFacts | null {
  if (output?.kind !== 'evidence' || !output.notes?.includes(fromCache)) return null;
  const sources = FoundPassages.parse(JSON.parse(found)).passages.map((passage) => passageOf(passage).source);
  return output.facts.map(({ text, source }) => ({ text, passage: sources.findIndex((other) => isSameSource(other, source)) + 1 }));
}

const isSameSource = (one: Source, other: Source): boolean =>
  one.kind === other.kind && one.title === other.title && one.url === other.url && one.document === other.document;

/** `subtopic`: searches for one part of a question and extracts what the passages say about it, each fact with its source. */
export const subtopicCapability =
  (maker: Calls, stream: ShownIn, sources: PassageSources, cacheOf: (task: TaskDispatched) => SubtopicCache | null): Capability =>
  async (context) => {
    const { task, signal, deadline } = context;
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'subtopic' }>;
    const end = await maker.tool(
      {
        runId: task.runId,
        owner: data.taskId,
        index: searchIndex,
        purpose: data.capability,
        name: 'subtopic.search',
        request: { query: input.query, collections: input.collections, limit: input.limit },
        deadline,
        signal,
        task,
        onBegun: (attempt) =>
          appendThoughts(stream, task, attempt, [{ n: 0, code: 'research.result', text: `Searches for: ${input.query}` }]),
      },
      async (running) => JSON.stringify(await passagesFor(sources, data.tenant, input, running)),
    );
    const early = earlyEnd([end]);
    if (early) return early;
    const { reply, attempt } = end as Extract<CallEnd, { kind: 'reply' }>;
    const found = FoundPassages.parse(JSON.parse(reply.content));
    const passages = found.passages.map(passageOf);
    const notes = found.failed.map((name) => `${name} could not be searched.`);
    const records = recordsOf([end]);
    const say = (n: number, text: string, at = attempt): Promise<void> =>
      appendThoughts(stream, task, at, [{ n, code: 'research.result', text }]);
    if (passages.length === 0) {
      await say(1, `Nothing was found about: ${input.topic}`);
      return { result: { status: 'ok', output: { kind: 'evidence', facts: [], notes }, sources: [], attempt }, records };
    }
    const cache = cacheOf(task);
    const looked = cache ? await cache.look(task, found.passages) : null;
    if (looked && 'againMs' in looked) return { deferMs: looked.againMs };
    if (looked && 'facts' in looked) {
      await say(1, `${counted(looked.facts.length)} about ${input.topic}, known from an earlier run`);
      return { result: { attempt, ...evidence(data, passages, looked.facts, [...notes, fromCache]) }, records };
    }
    const performed = await answerByAsk(
      maker,
      context,
      factsAsk,
      { topic: input.topic, goal: input.goal, passages },
      {
        onBegun: ({ attempt: at, messages }) =>
          appendThoughts(stream, task, at, [
            {
              n: 2,
              code: 'research.result',
              text: `Reads ${passages.length} passages about: ${input.topic}`,
              detail: promptDetail(messages),
            },
          ]),
      },
      async (facts) => {
        const isPassagesAlone = facts === null;
        if (facts && cache) await cache.keep(task, found.passages, facts);
        const said = facts ?? passages.slice(0, input.limit).map(({ text }, index) => ({ text, passage: index + 1 }));
        await say(
          3,
          isPassagesAlone ? `The passages about ${input.topic} are used as they are` : `${counted(said.length)} about ${input.topic}`,
        );
        return evidence(
          data,
          passages,
          said,
          isPassagesAlone ? [...notes, 'No facts could be read from the reply: the passages are used as they are.'] : notes,
        );
      },
    );
    if (looked && 'mine' in looked && 'result' in performed) await looked.mine();
    return 'deferMs' in performed ? performed : { ...performed, records: [...records, ...performed.records] };
  };

const counted = (n: number): string => `${n} ${n === 1 ? 'fact' : 'facts'}`;

function evidence(
  { taskId, epoch }: TaskDispatched['data'],
  passages: readonly Passage[],
  said: CitedFacts,
  notes: readonly string[],
): Extract<Performed, { result: unknown }>['result'] {
  const facts = said.flatMap(({ text, passage }): Fact[] => {
    const { source } = passages[passage - 1] ?? {};
    return source ? [{ text, source, taskId, epoch, confidence: null }] : [];
  });
  return { status: 'ok', output: { kind: 'evidence', facts, notes: [...notes] }, sources: [...distinctSources(facts)] };
}
