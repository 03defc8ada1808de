import type { Event, GapDetected, PlanRequested, RunCompleted, TaskDispatched } from '@conclave/contracts';
import type { Strategy } from '@conclave/loop';
import { silentLogger, type DeliveryContext } from '@conclave/platform';
import type { Embedder, HandlerOutcome, KnowledgeGraph, Search, StateStore, Vectors } from '@conclave/ports';
import type { Calls, WorkState } from '@conclave/calls';
import { ExpertsHandler } from '@conclave/service-experts';
import { GraphIngestHandler } from '@conclave/service-graph-ingest';
import { chainHash, JudgeHandler, stateHash } from '@conclave/service-merger';
import { PlannerHandler } from '@conclave/service-planner';
import { strategyOf, type CitedFacts } from '@conclave/strategies';
import type { RecordedCalls } from './recorded-calls.js';

/** The state a handler saw, as far as the recording shows it. */
export interface SeenState {
  readonly now: number;
  readonly started: boolean;
  readonly request: Event | null;
  /** What the cache of sub-topics said to the task; null if it said nothing. */
  readonly kept: CitedFacts | null;
}

const context = (): DeliveryContext => ({ signal: new AbortController().signal }) as DeliveryContext;

const stateView = ({ now, started, request }: SeenState): WorkState => ({
  now: () => Promise.resolve(now),
  journal: { started: () => Promise.resolve(started) },
  runs: {
    header: () => Promise.resolve(request as PlanRequested | null),
    read: () => Promise.resolve(null),
    nextCommandSeq: () => Promise.reject(new Error('A replay does not send commands.')),
  },
});

/** Text and progress are not shown. */
const stream = { append: () => Promise.resolve('appended' as const) };

const searchOf = (kind: Search['kind']): Search => ({
  kind,
  description: 'a recording',
  query: () => Promise.reject(new Error('A replay searches nothing.')),
  health: () => Promise.resolve(null),
  close: () => Promise.resolve(),
});

/** Evidence is never looked up again: a call returns the recording, so a use of anything but the given members is a fault. */
const unused = <T extends object>(what: string, used: Partial<T> = {}): T =>
  new Proxy(used as T, {
    get: (target, name) => (Reflect.get(target, name) as unknown) ?? (() => Promise.reject(new Error(`A replay asks no ${what}.`))),
  });
const plannerView = (state: SeenState) => ({
  ...stateView(state),
  scores: unused<StateStore['scores']>('score'),
  caches: unused<StateStore['caches']>('cache'),
});
const uncounted = { count: () => undefined };
/** Keeps nothing, and knows only what the cache said to the recorded task. */
const cachesWith = (kept: SeenState['kept']): StateStore['caches'] =>
  unused<StateStore['caches']>('cache', {
    read: () => Promise.resolve(kept && { value: { facts: kept }, tags: [], writtenAt: 0, expiresAt: Number.MAX_SAFE_INTEGER }),
    claim: () => Promise.resolve('mine'),
    release: () => Promise.resolve(),
    write: () => Promise.resolve(false),
  });

const hasLearned = unused<KnowledgeGraph>('graph', {
  stats: () => Promise.resolve({ entities: 1, relations: 1, flagged: 0, syntheses: 0, quarantined: 0 }),
});
const hasDocuments = unused<Vectors>('vectors', { count: () => Promise.resolve(1) });

const someEmbedder = unused<Embedder>('embedder', { id: 'recorded' });

/** Discards what is learned again. */
const forgetful = unused<KnowledgeGraph>('graph', {
  addTriples: () => Promise.resolve({ added: 0, confirmed: 0, refused: 0, quarantined: [] }),
  addSynthesis: () => Promise.resolve({ id: '', created: false }),
});

/** Child runs have recordings of their own, which contain their requests and ends; nothing is begun again. */
const acceptingView = (state: SeenState) => {
  const view = stateView(state);
  return { ...view, runs: { ...view.runs, accept: () => Promise.resolve({ kind: 'accepted' as const }) } };
};

/** `search` is null for a worker that had no part for its task: it gets none of the optional ones. */
const expertsOver = (state: SeenState, calls: Calls, search: Search['kind'] | null): ExpertsHandler => {
  const part = <T extends object>(what: string): T | null => search && unused<T>(what);
  return new ExpertsHandler(
    { ...stateView(state), caches: cachesWith(state.kept) },
    calls,
    stream,
    search && searchOf(search),
    part('page'),
    part('mathematics'),
    part('tool'),
    part('graph'),
    part('vectors'),
    part('embedder'),
    { research: null, collections: null },
    unused('blob'),
    unused('document'),
    { readPages: 0 },
    { count: () => undefined },
  );
};

/** The deciding code of the services: the same classes that a server runs. */
export const todaysCode = {
  strategyOf: (id: string): Strategy => strategyOf(id),
  chainHash,
  stateHash,
  /** `search` is the kind of search of the recorded process; null if it had none. */
  plan(event: PlanRequested | GapDetected, calls: RecordedCalls, state: SeenState, search: Search['kind'] | null): Promise<HandlerOutcome> {
    // A planner would wait for a process that has the strategy.
    if (event.type === 'PlanRequested') strategyOf((event as PlanRequested).data.template.strategy);
    // A recorded look-up proves that there was something to search; its result is recorded.
    const looked = calls.has('lookup');
    const handler = new PlannerHandler(
      plannerView(state),
      calls,
      stream,
      () => 0.5,
      looked ? searchOf(search ?? 'corpus') : search === 'web' ? searchOf('web') : null,
      looked ? hasLearned : null,
      looked ? hasDocuments : null,
      looked ? someEmbedder : null,
    );
    return event.type === 'PlanRequested'
      ? handler.onRequest(event as PlanRequested, context())
      : handler.onGap(event as GapDetected, context());
  },
  /** `search` is the kind of search of the worker; null if it had no part for this task. */
  work(task: TaskDispatched, calls: Calls, state: SeenState, search: Search['kind'] | null): Promise<HandlerOutcome> {
    const handler = task.data.capability.startsWith('judge.')
      ? new JudgeHandler(acceptingView(state), calls, stream)
      : expertsOver(state, calls, search);
    return handler.onTask(task, context());
  },
  learn(event: RunCompleted, calls: Calls, state: SeenState): Promise<HandlerOutcome> {
    const handler = new GraphIngestHandler(
      forgetful,
      { ...stateView(state), caches: { write: () => Promise.resolve(false) }, runs: { erased: () => Promise.resolve(null) } },
      calls,
      silentLogger,
      uncounted,
      unused('document'),
    );
    return handler.onCompleted(event, context());
  },
};
export type TodaysCode = typeof todaysCode;
