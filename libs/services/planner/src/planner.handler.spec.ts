import { describe, expect, it } from '@jest/globals';
import { noUsage, type GapDetected, type PlanRequested, type WorkerEntry } from '@conclave/contracts';
import type { DeliveryContext } from '@conclave/platform';
import type { StateStore } from '@conclave/ports';
import type { CallMaker, CallEnd } from '@conclave/calls';
import { PlannerHandler } from './planner.handler.js';

const runId = 'run_00000001';
const request = {
  type: 'PlanRequested',
  id: runId,
  runId,
  time: 1_000,
  data: {
    goal: 'Where?',
    requestedAt: 0,
    conversation: [],
    system: null,
    template: {
      strategy: 'agentic',
      experts: { general: {} },
      capabilities: ['research'],
      planner: { models: ['m@fake'], prompt: null },
      planning_timeout_s: 60,
      prices: {},
      contexts: {},
    },
    limits: { model_calls: 60, tokens: 200_000, cost: null },
  },
} as unknown as PlanRequested;
const gap = (time: number, calls = 9) =>
  ({
    type: 'GapDetected',
    id: `${runId}/0/gap`,
    runId,
    time,
    data: {
      epoch: 0,
      iteration: 1,
      max: 3,
      gap: 'the place',
      nextFocus: 'where',
      history: [],
      memory: { goal: 'Where?', searchQuestion: null, facts: [], tried: [], userInputs: [] },
      forbidden: [],
      left: { model_calls: calls, tokens: 90_000, wall_time_s: 60 },
    },
  }) as unknown as GapDetected;
const context = { signal: new AbortController().signal } as DeliveryContext;

function planner(
  options: {
    cancelled?: boolean;
    started?: boolean;
    status?: string;
    awaiting?: { readonly epoch: number };
    replies?: readonly string[];
    header?: PlanRequested;
  } = {},
) {
  const asked: { index: number; prompt: string; attempts: number | undefined }[] = [];
  const replies = [...(options.replies ?? [])];
  const lines: WorkerEntry[] = [];
  const append = (_runId: string, entries: readonly WorkerEntry[]) => Promise.resolve((lines.push(...entries), 'appended' as const));
  const stored = options.status === undefined ? null : { status: options.status, state: { awaiting: options.awaiting ?? null } };
  const state = {
    now: () => Promise.resolve(10_000),
    journal: { started: () => Promise.resolve(options.started ?? false) },
    runs: {
      header: () => Promise.resolve(options.header ?? request),
      read: () => Promise.resolve(stored),
    },
  } as unknown as StateStore;
  const maker = {
    cancels: { isCancelled: () => Promise.resolve(options.cancelled ?? false) },
    model: async (call: Parameters<CallMaker['model']>[0]): Promise<CallEnd> => {
      if (!options.started && (options.cancelled || (call.wanted && !call.wanted.is(stored?.state ?? null))))
        return { kind: 'cancelled', attempt: 1, usage: noUsage, record: null };
      await call.onBegun?.(1);
      asked.push({ index: call.index, prompt: call.request.messages.at(-1)!.content, attempts: call.request.attempts });
      const usage = { calls: 1, prompt: 10, completion: 5, reasoning: 0, cost: 0, estimated: false };
      const record = { id: `record ${call.index}` };
      const content = replies.shift() ?? 'nothing';
      const end =
        content === down
          ? { kind: 'failed', failure: { code: 'PROVIDER_FAILED', message: 'Provider fake, status 500.', retriable: true } }
          : { kind: 'reply', reply: { content }, replayed: false };
      return { ...end, attempt: 1, usage, record } as unknown as CallEnd;
    },
  } as unknown as CallMaker;
  return {
    handler: new PlannerHandler(state, maker, { append }, Math.random),
    asked,
    said: () => lines.flatMap((line) => (line.kind === 'progress' ? [line.text] : [])),
  };
}
/** Reply that makes the model fail. */
const down = '500';
const good = '{"tasks":[{"id":"x1","task":"answer","capability":"expert.general"}]}';

describe('the planner', () => {
  it('asks again with the error, at most twice, and sums up the cost', async () => {
    const { handler, asked } = planner({ replies: ['chat', '{"tasks":[]}', good] });
    const [plan, ...records] = (await handler.onRequest(request, context)) as unknown as [{ data: unknown }, ...unknown[]];
    expect(plan.data).toMatchObject({ reAsks: 2, fallback: false, usage: { calls: 3, prompt: 30 }, tasks: [{ id: 'x1' }] });
    expect(records).toHaveLength(3);
    expect(asked.map(({ index }) => index)).toEqual([0, 32, 64]);
    expect(asked[2]!.prompt).toContain('no task');
  });

  it('searches for the question itself if no reply was a plan and there is something to search, then asks one expert', async () => {
    const { handler } = planner({ replies: ['chat', 'chat', 'chat'] });
    const { template, goal } = request.data;
    const searching = {
      ...request,
      data: { ...request.data, template: { ...template, capabilities: ['research', 'math', 'collections'] } },
    };
    const [plan] = (await handler.onRequest(searching, context)) as unknown as [{ data: { tasks: unknown[] } }];
    expect(plan.data).toMatchObject({ fallback: true, reAsks: 2 });
    expect(plan.data.tasks).toMatchObject([
      { id: 'fallback-research', capability: 'research', query: goal, needs: [] },
      { id: 'fallback-collections', capability: 'collections', query: goal, needs: [] },
      { id: 'fallback', capability: 'expert.general', task: goal, needs: ['fallback-research', 'fallback-collections'] },
    ]);
  });

  it('lets a run and its gaps wait for a planner that has the strategy', async () => {
    const own = { ...request, time: 10_000, data: { ...request.data, template: { ...request.data.template, strategy: 'own-loop' } } };
    const { handler, asked } = planner({ header: own });
    expect(await handler.onRequest(own, context)).toEqual({ deferMs: expect.any(Number) });
    const gap = { ...own, type: 'GapDetected', data: { epoch: 0, left: {} } } as unknown as Parameters<typeof handler.onGap>[0];
    expect(await handler.onGap(gap, context)).toEqual({ deferMs: expect.any(Number) });
    expect(asked).toEqual([]);
  });

  it('says what is wrong with every reply that is not a plan, and that it is requested again', async () => {
    const { handler, said } = planner({ replies: ['chat', '{"tasks":[]}', good] });
    await handler.onRequest(request, context);
    expect(said()).toEqual([
      'm@fake makes the plan of a moderate question',
      expect.stringMatching(/^The plan was invalid \(attempt 1 of 3\): the reply contains no JSON\./),
      'm@fake is asked for the plan again (attempt 2 of 3)',
      expect.stringMatching(/^The plan was invalid \(attempt 2 of 3\): the plan has no task\./),
      'm@fake is asked for the plan again (attempt 3 of 3)',
      'The plan has arrived',
    ]);
  });

  it('says why no plan arrived, and why another model is called', async () => {
    const alone = planner({ replies: [down] });
    await alone.handler.onRequest(request, context);
    expect(alone.said()).toEqual(['m@fake makes the plan of a moderate question', 'No plan came: Provider fake, status 500.']);
    const two = planner({ replies: [down, good] });
    const { data } = request;
    const models = { ...data.template, planner: { models: ['m@fake', 'n@fake'], prompt: null } };
    await two.handler.onRequest({ ...request, data: { ...data, template: models } }, context);
    expect(two.said().slice(1)).toEqual([
      'n@fake makes the plan of a moderate question, after this: Provider fake, status 500.',
      'The plan has arrived',
    ]);
  });

  it('leaves the calls that the round and the answer need, and then searches for what is missing', async () => {
    const { handler, asked } = planner({ replies: ['chat', 'chat', 'chat'] });
    const [plan] = (await handler.onGap(gap(9_000, 3), context)) as unknown as [{ data: unknown }];
    expect(asked).toMatchObject([{ attempts: 1 }]);
    expect(plan.data).toMatchObject({ epoch: 1, fallback: true, reAsks: 1, usage: { calls: 1 } });
  });

  it.each([
    ['agentic', 3, 1],
    ['agentic', 4, 2],
    ['waves', 2, 1],
    ['waves', 3, 2],
  ])('leaves the calls that a run of %s with %i calls needs after its first plan: %i for the planner', async (strategy, calls, most) => {
    const { handler, asked } = planner({ replies: ['chat', 'chat', 'chat'] });
    const { data } = request;
    const small = { ...data, template: { ...data.template, strategy, options: {} }, limits: { ...data.limits, model_calls: calls } };
    const [plan] = (await handler.onRequest({ ...request, data: small } as PlanRequested, context)) as unknown as [{ data: unknown }];
    expect(asked).toHaveLength(most);
    const isUnplanned = { failure: { code: 'ALLOWANCE_EXHAUSTED' }, usage: { calls: most } };
    expect(plan.data).toMatchObject(strategy === 'agentic' ? { fallback: true, failure: null } : isUnplanned);
  });

  it('shows earlier guidance in the first plan of a strategy that took over the run', async () => {
    const { handler, asked } = planner({ replies: [good] });
    const event = gap(9_000);
    const memory = { ...event.data.memory, userInputs: [{ seq: 1, kind: 'steer', text: 'Only ships of wood.' }] };
    await handler.onGap({ ...event, data: { ...event.data, first: true, memory } } as unknown as GapDetected, context);
    expect(asked[0]!.prompt).toContain('Only ships of wood.');
    expect(asked[0]!.prompt).not.toContain('the place');
  });

  it('spends no more money on a re-plan than the run has left, or than its limit if an older record says nothing', async () => {
    const priced = { ...request.data.template, prices: { 'm@fake': { input: 1, output: 1 } } };
    const header = { ...request, data: { ...request.data, template: priced, limits: { ...request.data.limits, cost: 1 } } };
    const asked = async (cost?: number): Promise<number> => {
      const { handler, asked: calls } = planner({ replies: [good], header });
      const { data, ...event } = gap(9_000);
      await handler.onGap({ ...event, data: { ...data, left: { ...data.left, ...(cost === undefined ? {} : { cost }) } } }, context);
      return calls.length;
    };
    expect([await asked(0), await asked(0.5), await asked()]).toEqual([0, 1, 1]);
  });

  it('makes no call when its run is cancelled, and says so', async () => {
    const { handler, asked } = planner({ cancelled: true });
    expect(await handler.onRequest(request, context)).toMatchObject([
      { type: 'PlanCreated', data: { failure: { code: 'CALL_CANCELLED' } } },
    ]);
    expect(asked).toEqual([]);
  });

  it.each([{ status: 'collecting' }, { status: 'completed', cancelled: true }])(
    'makes no call when the engine went on without the first plan: %j',
    async (options) => {
      const { handler, asked } = planner(options);
      expect(await handler.onRequest(request, context)).toEqual([]);
      expect(asked).toEqual([]);
    },
  );

  it('makes the first plan of a run that was paused in the meantime', async () => {
    const { handler, asked } = planner({ status: 'paused', awaiting: { epoch: 0 }, replies: [good] });
    await handler.onRequest(request, context);
    expect(asked).toHaveLength(1);
  });

  it('makes no call for a re-plan whose time has passed', async () => {
    const { handler, asked } = planner();
    expect(await handler.onGap(gap(10_000 - 60_000), context)).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('completes a started plan, so that its cost is known', async () => {
    const { handler, asked } = planner({ started: true, cancelled: true, replies: [good] });
    await handler.onRequest(request, context);
    expect(asked).toHaveLength(1);
  });
});
