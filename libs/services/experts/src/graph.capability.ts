import { createHash } from 'node:crypto';
import pTimeout from 'p-timeout';
import { boundedDetail, Failure, type Fact, type FailureNote, type TaskDispatched, type TaskInput } from '@conclave/contracts';
import type { GraphContext, GraphQuery, KnowledgeGraph } from '@conclave/ports';
import { earlyEnd, recordsOf, type CallEnd, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import { contextText, filteredFacts, graphFacts } from './graph-facts.js';
import { graphContextMs, graphJudgementKey } from '@conclave/strategies';
import { questionTerms } from '@conclave/questions';
import type { TenantCache } from './tenant-cache.js';

/** Looks up facts selected by a plan's `metadata_filters`; names the keys that no fact has. */
export type FactLookup = (
  tenant: string,
  question: string,
  filters: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<{ readonly facts: readonly Fact[]; readonly unknownKeys: readonly string[] }>;

type Input = Extract<TaskInput, { kind: 'graph' }>;

/** Most relations, and most insights, of one context. */
const mostItems = 24;
/** Largest share of the context for facts found by filters. */
const filteredShare = 0.25;

/**
 * Milliseconds a graph may take. A server that has just started plans each statement for the first time: 1.5 to 3.4 s measured on a
 * busy machine, so a tighter limit would skip a healthy graph. A hanging graph costs no more than this.
 */
const patienceMs = 8_000;

const skipped = 'The knowledge graph did not answer, so retrieval was skipped.';

interface Retrieved {
  readonly context: GraphContext;
  readonly cached: boolean;
}
interface Looked {
  readonly facts: readonly Fact[];
  readonly unknownKeys: readonly string[];
}

/** Tenant, judgement, question, categories and filters; the order of the last two does not matter. */
const keyOf = (tenant: string, judgement: string | null, { question, categories, filters, maxCharacters }: Input): string => {
  const asked = question.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
  const about = [
    tenant,
    judgement,
    asked,
    [...categories].sort(),
    Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1)),
    maxCharacters,
  ];
  return `graph-context:1:${createHash('sha256').update(JSON.stringify(about)).digest('hex')}`;
};

/**
 * `graph`: relations of the question's entities up to two hops away, insights of earlier answers, and the facts that the plan's
 * filters select or, without filters, that are about the question. If the graph or a collection is unavailable, the result is still
 * ok and says what is missing. Contexts are cached for an hour; a rating or a decided contradiction invalidates them.
 */
export const graphCapability =
  (
    maker: Calls,
    stream: ShownIn,
    patient: KnowledgeGraph,
    lookUp: FactLookup | null,
    cache: TenantCache | null = null,
    withinMs = patienceMs,
  ): Capability =>
  async ({ task, signal, deadline }) => {
    const { data } = task;
    const late = new Failure('GRAPH_UNAVAILABLE', `It did not answer within ${withinMs / 1000} s.`);
    const graph = { retrieve: (query: GraphQuery) => pTimeout(patient.retrieve(query), { milliseconds: withinMs, message: late }) };
    const input = data.input as Input;
    // Learned facts belong to the context with or without filters.
    const filtered = lookUp !== null;
    const isFiltered = Object.keys(input.filters).length > 0;
    const call = (index: number, name: string, request: unknown, perform: (running: AbortSignal) => Promise<unknown>): Promise<CallEnd> =>
      maker.tool(
        { runId: task.runId, owner: data.taskId, index, purpose: data.capability, name, request, deadline, signal, task },
        async (running) => JSON.stringify(await perform(running)),
      );

    const terms = questionTerms(input.question);
    const query = {
      tenant: data.tenant,
      terms,
      categories: [...new Set([...input.categories, ...domainsOf(input.filters)])],
      limit: mostItems,
      maxCharacters: Math.floor(input.maxCharacters * (filtered ? 1 - filteredShare : 1)),
    };
    const { tenant: _tenant, ...request } = query;
    const ends = [await call(0, 'graph.retrieve', request, () => retrieve(graph, cache, input, query))];
    if (filtered && ends[0]!.kind !== 'busy' && ends[0]!.kind !== 'cancelled')
      ends.push(
        await call(1, 'facts.lookup', { filters: input.filters }, (running) => lookUp(data.tenant, input.question, input.filters, running)),
      );
    const records = recordsOf(ends);
    const [first, second] = ends;
    // A failed fact lookup only loses its facts.
    const early = earlyEnd(ends, {
      records,
      fails: (failure) => first!.kind === 'failed' && failure === first!.failure && isFault(failure),
    });
    if (early) return early;
    const attempt = Math.max(1, ...ends.map((end) => (end.kind === 'busy' ? 0 : end.attempt)));
    const found = contentOf<Retrieved>(first!);
    const looked = second ? contentOf<Looked>(second) : null;
    const at = { taskId: data.taskId, epoch: data.epoch };
    const ofGraph = found ? graphFacts(found.context, at) : [];
    const used = ofGraph.reduce((sum, { text }) => sum + text.length, 0);
    const ofFilters = looked ? filteredFacts(looked.facts, Math.max(0, input.maxCharacters - used), at) : [];
    const facts = [...ofGraph, ...ofFilters];
    await show(stream, task, attempt, {
      found,
      facts,
      insights: found?.context.syntheses.length ?? 0,
      filtered: ofFilters.length,
      isFiltered,
    });
    const notes = [
      ...(found ? [] : [skipped]),
      ...(found?.cached ? ['The context of the knowledge graph came from its cache.'] : []),
      ...(second && !looked
        ? [`The facts that ${isFiltered ? 'the filters ask for' : 'were learned'} could not be read and were left out.`]
        : []),
      ...(looked && looked.unknownKeys.length > 0 ? [`No fact has these filters: ${looked.unknownKeys.join(', ')}.`] : []),
    ];
    return {
      result: { status: 'ok', output: { kind: 'evidence', facts, notes }, sources: facts.map(({ source }) => source), attempt },
      records,
    };
  };

/** A filter's domain counts like a category of the plan. */
const domainsOf = (filters: Input['filters']): readonly string[] => (filters['expert_domain'] ? [filters['expert_domain']] : []);

async function retrieve(
  graph: Pick<KnowledgeGraph, 'retrieve'>,
  cache: TenantCache | null,
  input: Input,
  query: GraphQuery,
): Promise<Retrieved> {
  if (!cache) return { context: await graph.retrieve(query), cached: false };
  // Computed before the graph is read, so that a context read under an older judgement is cached under an obsolete key.
  const key = keyOf(query.tenant, await cache.read(graphJudgementKey), input);
  const kept = await cache.read(key);
  if (kept) return { context: JSON.parse(kept) as GraphContext, cached: true };
  const context = await graph.retrieve(query);
  await cache.write(key, JSON.stringify(context), graphContextMs);
  return { context, cached: false };
}

/** Whether the failure fails the task; an unavailable or slow graph only means an empty context. */
const isFault = ({ code }: FailureNote): boolean => !awayCodes.has(code);
/** Codes of a graph that is unavailable, or is not asked for a while because it was unavailable too often. */
const awayCodes: ReadonlySet<string> = new Set(['GRAPH_UNAVAILABLE', 'CALL_TIMEOUT', 'CAPABILITY_UNWELL']);

const contentOf = <T>(end: CallEnd): T | null => (end.kind === 'reply' ? (JSON.parse(end.reply.content) as T) : null);

async function show(
  stream: ShownIn,
  task: TaskDispatched,
  attempt: number,
  {
    found,
    facts,
    insights,
    filtered,
    isFiltered,
  }: { found: Retrieved | null; facts: readonly Fact[]; insights: number; filtered: number; isFiltered: boolean },
): Promise<void> {
  const { taskId, detail } = task.data;
  const parts = found
    ? [
        counted(found.context.relations.length, 'relation'),
        counted(insights, 'insight'),
        ...(filtered > 0 ? [counted(filtered, 'fact', isFiltered ? ' by filter' : '')] : []),
        ...(found.cached ? ['from the cache'] : []),
      ]
    : [];
  await stream.append(task.runId, [
    {
      kind: 'progress',
      taskId,
      attempt,
      n: 0,
      code: 'graph.context',
      text: found ? `Knowledge graph: ${parts.join(', ')}` : skipped,
      ...(detail === 'full' ? { detail: boundedDetail(contextText(facts)) } : {}),
    },
  ]);
}

const counted = (n: number, what: string, after = ''): string => `${n} ${what}${n === 1 ? '' : 's'}${after}`;
