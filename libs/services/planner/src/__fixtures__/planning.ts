import {
  GapDetected,
  makeEvent,
  noUsage,
  PlanRequested,
  type Event,
  type KeptPlan,
  type PlanCreated,
  type Template,
} from '@conclave/contracts';
import { noProbe, openMetrics, silentLogger, type DeliveryContext } from '@conclave/platform';
import { MemoryStores, type KnowledgeGraph, type Models } from '@conclave/ports';
import { CallMaker } from '@conclave/calls';
import type { RandomSource } from '../thompson.js';
import type { LookupParts } from '../lookup.js';
import { PlannerHandler } from '../planner.handler.js';

const general = { t1: ['a@fake'], prompt: 'Answer.' };
export const template: Template = {
  id: 'conclave',
  version: 'v1',
  description: '',
  strategy: 'agentic',
  max_agentic_rounds: 2,
  gap_check: 'evidence',
  planner: { models: ['p@fake'], prompt: null },
  judge: { models: ['p@fake'] },
  experts: { general, science: general },
  capabilities: ['research', 'graph'],
  caches: { answer: true, semantic: true, plan: true, search: true },
  complexity: 'auto',
  classes: {},
  limits: { wall_time_s: 60, model_calls: 60, prompt_tokens: 200_000, tokens: 200_000, cost: null, concurrent_tasks: 8 },
  task_timeout_s: 10,
  start_timeout_s: 10,
  planning_timeout_s: 600,
  progress: 'none',
  prices: {},
  contexts: {},
};
export const question = 'Compare the history of the Aurora bridge with the history of the Borealis bridge and explain the differences.';

/** A cached plan as a request contains it. */
export const keptPlan: KeptPlan = {
  complexity: 'moderate',
  signals: [],
  tasks: [{ id: 'x1', capability: 'expert.general', task: 'Explain it.', query: null, needs: [], metadata_filters: null }],
  searchQuestion: null,
};

/** Successive planners over the same stores; `replies` are the model's replies in order, or what happens during its call. */
export function planning(
  replies: readonly (string | (() => Promise<never>))[],
  random: RandomSource = Math.random,
  parts: Partial<LookupParts> = {},
) {
  const stores = new MemoryStores();
  const left = [...replies];
  const prompts: string[] = [];
  const models: Pick<Models, 'call' | 'providers'> = {
    providers: () => Promise.resolve([]),
    call: ({ messages }) => {
      prompts.push(messages.map(({ content }) => content).join('\n'));
      const content = left.shift();
      if (typeof content === 'function') return content();
      if (content === undefined) return Promise.reject(new Error('Nobody expected another call.'));
      const usage = { ...noUsage, calls: 1, prompt: 100, completion: 20 };
      return Promise.resolve({ content, reasoning: '', finishReason: 'stop', usage, reportedModel: null, firstTokenMs: 1, durationMs: 2 });
    },
  };
  /** A separate process: it knows only what is in the stores. */
  const process = () => {
    const { state, stream } = stores.connect('one');
    const maker = new CallMaker({
      state,
      stream,
      models: models as Models,
      probe: noProbe,
      logger: silentLogger,
      metrics: openMetrics(),
      processId: 'one',
      service: 'planner',
      storePrompts: 'full',
      guard: null,
    });
    const { search = null, graph = null, vectors = null, embedder = null } = parts;
    return new PlannerHandler(state, maker, stream, random, search, graph as KnowledgeGraph | null, vectors, embedder);
  };
  const context = { signal: new AbortController().signal } as DeliveryContext;
  const request = async (runId: string, over: Partial<PlanRequested['data']> = {}): Promise<PlanRequested> => {
    const at = Date.now();
    const header = makeEvent(
      PlanRequested,
      { id: runId, runId, source: 'gateway', time: at },
      {
        ...{ goal: question, conversation: [], system: null, template, limits: template.limits, caller: { tenant: 'acme', actor: 'me' } },
        ...{ answer: {}, origin: 'runs', requestedAt: at, caching: { exact: 'answer/1', scope: null } },
        ...over,
      },
    );
    await stores.runs.accept({ header, retryKey: null, openLimit: 100 });
    return header;
  };
  const planOf = (outcome: Awaited<ReturnType<PlannerHandler['onRequest']>>): PlanCreated['data'] => {
    const plan = (outcome as readonly Event[]).find(({ type }) => type === 'PlanCreated');
    if (!plan) throw new Error('No plan was made.');
    return plan.data as PlanCreated['data'];
  };
  return {
    ...{ stores, prompts, request },
    ...{ process, context },
    handle: async (header: PlanRequested) => planOf(await process().onRequest(header, context)),
    plan: async (runId: string, over: Partial<PlanRequested['data']> = {}) =>
      planOf(await process().onRequest(await request(runId, over), context)),
    rePlan: async (runId: string) => planOf(await process().onGap(gapOf(runId), context)),
  };
}

export const gapOf = (runId: string, modelCalls = 20): GapDetected =>
  makeEvent(
    GapDetected,
    { id: `${runId}/0/gap`, runId, source: 'merger', time: Date.now() },
    {
      ...{ epoch: 0, iteration: 1, max: 2, gap: 'the year', nextFocus: 'the year', history: [], forbidden: [] },
      memory: { goal: question, searchQuestion: null, facts: [], tried: [], userInputs: [] },
      left: { model_calls: modelCalls, tokens: 100_000, wall_time_s: 60 },
    },
  );
