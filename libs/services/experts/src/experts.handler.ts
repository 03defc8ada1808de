import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import type { Event, TaskDispatched } from '@conclave/contracts';
import { EventPattern, METRICS, type DeliveryContext, type Metrics } from '@conclave/platform';
import {
  BLOBS,
  DOCUMENTS,
  EMBEDDER,
  GRAPH,
  PAGES,
  RERANKINGS,
  RUN_STREAM,
  SEARCH,
  STATE,
  SYMBOLIC,
  TOOLS,
  VECTORS,
  type Blobs,
  type DeadReason,
  type DocumentReader,
  type Embedder,
  type HandlerOutcome,
  type KnowledgeGraph,
  type PageReader,
  type Rerankings,
  type Search,
  type StateStore,
  type Symbolic,
  type ToolServers,
  type Vectors,
} from '@conclave/ports';
import { CALL_MAKER, deadTask, workOn, type Calls, type Capability, type ShownIn, type WorkState } from '@conclave/calls';
import { addedCapabilities } from '@conclave/strategies';
import { contentFrom } from './attached-content.js';
import { collectionsCapability } from './collections.capability.js';
import { expertCapability } from './expert.capability.js';
import { factLookup } from './fact-lookup.js';
import { graphCapability } from './graph.capability.js';
import { mathCapability } from './math.capability.js';
import { mcpCapability } from './mcp.capability.js';
import { recallCapability } from './recall.capability.js';
import { researchCapability } from './research.capability.js';
import { SubtopicCache } from './subtopic-cache.js';
import { subtopicCapability } from './subtopic.capability.js';
import { cacheOfTask } from './tenant-cache.js';
import { valuesCapability } from './values.capability.js';
import { wholeResults, type WholeResults } from './whole-results.js';

export const EXPERT_OPTIONS = Symbol('ExpertOptions');
export interface ExpertOptions {
  /** Number of best hits whose pages `research` reads whole. */
  readonly readPages: number;
}

/** Sources of evidence; the capability of a missing one is not served. */
export interface EvidenceParts {
  readonly search: Search | null;
  readonly pages: PageReader | null;
  readonly symbolic: Symbolic | null;
  readonly tools: ToolServers | null;
  readonly graph: KnowledgeGraph | null;
  readonly vectors: Vectors | null;
  readonly embedder: Embedder | null;
  readonly rerankings: Rerankings;
  readonly caches: StateStore['caches'] | null;
  /** Keeps long results of tools; null: later calls know only the excerpts. */
  readonly whole: WholeResults | null;
  readonly readPages: number;
  /** Reads pages that tools return; null: their markup stays. */
  readonly documents: DocumentReader | null;
  /** Store of the questions' images and files. */
  readonly blobs: Pick<Blobs, 'get'>;
  readonly metrics: Pick<Metrics, 'count'>;
}

/** Implementations of the expert and evidence capabilities; their declarations are in libs/strategies/src/capabilities. */
export function capabilitiesOf(maker: Calls, stream: ShownIn, parts: EvidenceParts): ReadonlyMap<string, Capability> {
  const { search, pages, symbolic, tools, graph, vectors, embedder, caches, readPages, blobs, documents, rerankings, metrics } = parts;
  const cacheOf = caches ? { cacheOf: cacheOfTask(caches) } : {};
  const onCache = (cache: 'search' | 'page' | 'subtopic', result: 'hit' | 'miss'): void =>
    metrics.count('cache_lookups_total', { cache, result });
  const found: readonly (readonly [string, Capability | null])[] = [
    ['expert', expertCapability(maker, stream, contentFrom(blobs))],
    [
      'research',
      search && researchCapability(maker, stream, search, { pages, readPages, reranking: rerankings.research, onCache, ...cacheOf }),
    ],
    ['math', symbolic && mathCapability(maker, stream, symbolic)],
    ['mcp', tools && mcpCapability(maker, stream, tools, documents, parts.whole)],
    [
      'graph',
      graph &&
        ((context) => {
          const cache = caches ? cacheOfTask(caches)(context.task) : null;
          return graphCapability(maker, stream, graph, vectors && embedder ? factLookup(vectors, embedder) : null, cache)(context);
        }),
    ],
    ['recall', vectors && embedder && recallCapability(maker, stream, vectors, embedder)],
    ['collections', vectors && embedder && collectionsCapability(maker, stream, vectors, embedder, rerankings.collections)],
    [
      'subtopic',
      subtopicCapability(maker, stream, { vectors, embedder, search }, ({ data }) =>
        caches && data.cached ? new SubtopicCache(caches, (result) => onCache('subtopic', result)) : null,
      ),
    ],
    ...addedCapabilities().map((added) => [added.declaration.name, valuesCapability(maker, stream, added)] as const),
  ];
  return new Map(found.filter((entry): entry is readonly [string, Capability] => entry[1] !== null));
}

/** Serves the task classes of the experts: models and evidence. */
@Controller()
export class ExpertsHandler {
  private readonly capabilities: ReadonlyMap<string, Capability>;

  constructor(
    @Inject(STATE) private readonly state: WorkState & Pick<StateStore, 'caches'>,
    @Inject(CALL_MAKER) private readonly maker: Calls,
    @Inject(RUN_STREAM) stream: ShownIn,
    @Inject(SEARCH) search: Search | null,
    @Inject(PAGES) pages: PageReader | null,
    @Inject(SYMBOLIC) symbolic: Symbolic | null,
    @Inject(TOOLS) tools: ToolServers | null,
    @Inject(GRAPH) graph: KnowledgeGraph | null,
    @Inject(VECTORS) vectors: Vectors | null,
    @Inject(EMBEDDER) embedder: Embedder | null,
    @Inject(RERANKINGS) rerankings: Rerankings,
    @Inject(BLOBS) blobs: Pick<Blobs, 'get'>,
    @Inject(DOCUMENTS) documents: DocumentReader | null,
    @Inject(EXPERT_OPTIONS) { readPages }: ExpertOptions,
    @Inject(METRICS) metrics: Pick<Metrics, 'count'>,
  ) {
    const parts = {
      search,
      pages,
      symbolic,
      tools,
      graph,
      vectors,
      embedder,
      rerankings,
      caches: state.caches,
      whole: wholeResults(state, state.caches),
      readPages,
      blobs,
      documents,
      metrics,
    };
    this.capabilities = capabilitiesOf(maker, stream, parts);
  }

  @EventPattern('TaskDispatched')
  onTask(@Payload() task: TaskDispatched, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    const [name] = task.data.capability.split('.') as [string];
    const capability = this.capabilities.get(name) ?? null;
    const { state, maker } = this;
    const callsFirst = name === 'expert';
    return workOn(task, { state, cancels: maker.cancels, source: 'experts', signal: context.signal, capability, callsFirst });
  }

  @EventPattern('dead:TaskDispatched')
  onDead(@Payload() dead: { event: TaskDispatched; reason: DeadReason }): readonly Event[] {
    return [deadTask(dead.event, 'experts', dead.reason)];
  }
}
