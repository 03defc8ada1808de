import { afterEach, describe, expect, it } from '@jest/globals';
import type { TaskDispatched } from '@conclave/contracts';
import { Failure } from '@conclave/contracts';
import { noProbe, openMetrics, silentLogger } from '@conclave/platform';
import { acceptance } from '@conclave/ports/suites';
import { MemoryStores, MemoryToolServers, systemClock, type MemoryTool, type Models } from '@conclave/ports';
import { CallMaker, type Performed } from '@conclave/calls';
import { until } from '@conclave/test-support';
import { mcpCapability } from './mcp.capability.js';
import type { WholeResults } from './whole-results.js';

const runId = 'run_00000001';
const taskId = `${runId}/0/t1`;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A worker on memory stores, with tools that count their calls. */
async function worker(
  tools: Record<string, MemoryTool>,
  { stores = new MemoryStores(), processId = 'one', whole = null as WholeResults | null } = {},
) {
  const { state, stream } = stores.connect(processId);
  await state.leases.renewProcess({ id: processId, service: 'experts', classes: [], ttlMs: 60_000 });
  const maker = new CallMaker({
    state,
    stream,
    models: {} as Models,
    probe: noProbe,
    logger: silentLogger,
    metrics: openMetrics(),
    processId,
    service: 'experts',
    storePrompts: 'full',
    guard: null,
  });
  closers.push(() => maker.close());
  const servers = new MemoryToolServers({ precision: tools, away: null });
  const run = async (
    input: { tool: string; args?: Record<string, unknown> },
    {
      detail = 'redacted',
      signal = new AbortController().signal,
      timeoutS = 20,
    }: { detail?: 'redacted' | 'full'; signal?: AbortSignal; timeoutS?: number } = {},
  ): Promise<Extract<Performed, { result: unknown }>> => {
    const data = { taskId, epoch: 2, capability: 'mcp', input: { kind: 'mcp', task: 'Reckon.', args: {}, ...input }, timeoutS, detail };
    const performed = await mcpCapability(
      maker,
      stream,
      servers,
      null,
      whole,
    )({ task: { runId, data } as unknown as TaskDispatched, signal, deadline: stores.clock.now() + timeoutS * 1_000 });
    if ('deferMs' in performed) throw new Error('It was busy.');
    return performed;
  };
  const shown = async (): Promise<object[]> => (await stream.read(runId, 0, 100)).entries.map(({ id: _id, at: _at, ...entry }) => entry);
  return { run, shown, stores };
}

const adding = (more: Partial<MemoryTool> = {}): { readonly calls: unknown[]; readonly tools: Record<string, MemoryTool> } => {
  const calls: unknown[] = [];
  const schema = {
    type: 'object',
    properties: { first_value: { type: 'number' }, values: { type: 'array', items: { type: 'number' } } },
    required: ['values'],
  };
  const add: MemoryTool = {
    description: 'Adds.',
    inputSchema: schema,
    run: async (args) => {
      calls.push(args);
      return { content: String((args.values as number[]).reduce((a, b) => a + b, 0)), structured: { sum: 1 } };
    },
    ...more,
  };
  return { calls, tools: { add } };
};

describe('the tool capability', () => {
  it('turns the result of a tool into a fact with its source', async () => {
    const { tools } = adding();
    const { run } = await worker(tools);
    const { result, records } = await run({ tool: 'precision.add', args: { values: [1, 2] } });
    const source = { kind: 'tool', title: 'precision.add', url: null, call: 'values: [1,2]' };
    expect(result).toEqual({
      status: 'ok',
      output: {
        kind: 'evidence',
        facts: [{ text: '3', source, taskId, epoch: 2, confidence: 1 }],
        notes: [],
      },
      sources: [source],
      attempt: 1,
    });
    expect(records).toMatchObject([{ type: 'CallRecorded', data: { model: 'mcp.precision.add', status: 'ok', usage: { calls: 0 } } }]);
  });

  it('takes arguments as the model meant them, and reports the repair', async () => {
    const { tools, calls } = adding();
    const { run } = await worker(tools);
    const { result } = await run({ tool: 'add', args: { values: '["1", 2]', firstValue: '7' } });
    expect(calls).toEqual([{ values: [1, 2], first_value: 7 }]);
    expect(result.output).toMatchObject({
      facts: [{ text: '3', source: { title: 'precision.add' } }],
      notes: ['`firstValue` is read as `first_value`.', '`values` is read as a list.', '`first_value` is read as a number.'],
    });
  });

  it('shows the tool and the names of arguments, and their values only in full detail', async () => {
    const { tools } = adding();
    const redacted = await worker(tools);
    await redacted.run({ tool: 'precision.add', args: { values: [1, 2], secret: 'hush' } });
    expect(await redacted.shown()).toEqual([
      { kind: 'progress', taskId, attempt: 1, n: 0, code: 'mcp.call', text: 'Calls precision.add with values, secret' },
      { kind: 'progress', taskId, attempt: 1, n: 1, code: 'mcp.result', text: 'precision.add has answered with 1 character' },
    ]);
    const full = await worker(tools);
    await full.run({ tool: 'precision.add', args: { values: [1, 2] } }, { detail: 'full' });
    expect(await full.shown()).toMatchObject([
      { code: 'mcp.call', detail: '{"tool":"precision.add","args":{"values":[1,2]}}' },
      { code: 'mcp.result', detail: '3' },
    ]);
  });

  it('never calls a tool twice for one task, and shows nothing twice', async () => {
    const { tools, calls } = adding();
    const { run, shown } = await worker(tools);
    const first = await run({ tool: 'precision.add', args: { values: [1] } });
    expect(await run({ tool: 'precision.add', args: { values: [1] } })).toEqual(first);
    expect(calls.length).toBe(1);
    expect((await shown()).length).toBe(2);
  });

  it('calls a tool that may not be repeated after a run was parked before the call was made', async () => {
    const { tools, calls } = adding({ repeatable: false });
    const stores = new MemoryStores();
    const { run } = await worker(tools, { stores });
    const { state } = stores.connect('one');
    await state.runs.accept(acceptance(runId));
    await state.runs.attach(runId, 'client');
    await state.runs.leave(runId, 'client');
    await expect(run({ tool: 'precision.add', args: { values: [1] } })).rejects.toThrow('busy');
    await state.runs.attach(runId, 'the same client');
    expect((await run({ tool: 'precision.add', args: { values: [1] } })).result).toMatchObject({ status: 'ok', attempt: 1 });
    expect(calls).toHaveLength(1);
  });

  it.each([
    [false, 'error', 1],
    [true, 'ok', 2],
  ])('after the death of a worker in a call, with a tool that may be repeated: %s', async (repeatable, status, times) => {
    const { tools, calls } = adding({ repeatable });
    let shift = 0;
    const stores = new MemoryStores({ clock: { ...systemClock, now: () => systemClock.now() + shift } });
    let reached: () => void = () => undefined;
    const called = new Promise<void>((resolve) => (reached = resolve));
    const stuck = async (args: unknown): Promise<string> => {
      calls.push(args);
      reached();
      return new Promise(() => {});
    };
    const dying = await worker({ add: { ...tools.add!, run: stuck } }, { stores });
    const leaving = new AbortController();
    const left = dying.run({ tool: 'precision.add', args: { values: [4] } }, { signal: leaving.signal, timeoutS: 600 }).catch(() => 'left');
    await called;
    // Its lease expires: other processes consider it dead.
    shift = 120_000;
    const next = await worker(tools, { stores, processId: 'two' });
    const { result } = await next.run({ tool: 'precision.add', args: { values: [4] } });
    expect(result).toMatchObject({ status, attempt: 2 });
    if (status === 'error')
      expect(result.failure).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('safe to repeat') });
    expect(calls.length).toBe(times);
    leaving.abort();
    expect(await left).toBe('left');
  });

  it('fails with the sentence of the tool', async () => {
    const { tools } = adding({ run: async () => ({ content: 'Values must be\npositive.', isError: true }) });
    const { run, shown } = await worker(tools);
    const { result } = await run({ tool: 'precision.add', args: { values: [] } });
    expect(result).toEqual({
      status: 'error',
      failure: { code: 'TOOL_FAILED', message: '`precision.add` says: Values must be positive.', retriable: false },
      attempt: 1,
    });
    expect(await shown()).toMatchObject([
      { code: 'mcp.call' },
      { code: 'mcp.result', text: expect.stringContaining('Values must be positive.') },
    ]);
  });

  it('ends when a tool that was called too often may be called again, and says that the call was not made', async () => {
    const refused = { error: 'rate_limited', retry_after_ms: 300 };
    const { tools, calls } = adding({ run: async () => ({ content: JSON.stringify(refused), isError: true }) });
    const { run } = await worker(tools);
    const begun = performance.now();
    expect((await run({ tool: 'precision.add', args: { values: [] } })).result).toMatchObject({
      failure: { code: 'TOOL_FAILED', unsent: true },
    });
    expect(performance.now() - begun).toBeGreaterThanOrEqual(290);
    expect(calls.length).toBeLessThanOrEqual(1);
    const late = await worker(adding({ run: async () => ({ content: '{"error":"rate_limited","retry_after":900}' }) }).tools);
    expect((await late.run({ tool: 'precision.add', args: { values: [] } })).result).toMatchObject({ failure: { unsent: true } });
  });

  it('fails with a failure that a tool reports as its result', async () => {
    const failed = { ok: false, error: 'The sum exceeds the limit.' };
    const { tools } = adding({ run: async () => ({ content: JSON.stringify(failed), structured: failed }) });
    const { run } = await worker(tools);
    expect((await run({ tool: 'precision.add', args: { values: [] } })).result).toMatchObject({
      status: 'error',
      failure: { code: 'TOOL_FAILED', message: '`precision.add` says: The sum exceeds the limit.' },
    });
  });

  it.each([
    [undefined, 'TOOL_UNKNOWN'],
    ['TOOL_ARGUMENTS_INVALID', 'TOOL_ARGUMENTS_INVALID'],
  ])('fails without a call if its strategy refuses it (%s)', async (refusedAs, code) => {
    const { tools, calls } = adding();
    const { run } = await worker(tools);
    const input = { tool: 'precision.add', args: { values: [1] }, refused: 'Not like this.', ...(refusedAs ? { refusedAs } : {}) };
    expect((await run(input)).result).toMatchObject({ status: 'error', failure: { code, message: 'Not like this.' } });
    expect(calls).toEqual([]);
  });

  it.each<[string, { tool: string; args?: Record<string, unknown> }, object]>([
    ['an unknown tool', { tool: 'precision.ad' }, { code: 'TOOL_UNKNOWN', message: expect.stringContaining('`precision.add`') }],
    [
      'arguments that do not fit',
      { tool: 'precision.add', args: { values: 'many, many' } },
      { code: 'TOOL_ARGUMENTS_INVALID', unsent: true, message: expect.stringContaining('`values` must be array') },
    ],
    ['arguments that are missing', { tool: 'precision.add' }, { code: 'TOOL_ARGUMENTS_INVALID' }],
    [
      'a server that is away',
      { tool: 'away.add' },
      { code: 'TOOL_SERVER_UNAVAILABLE', retriable: true, unsent: true, message: expect.stringMatching(/ It was not called\.$/) },
    ],
    ['an invalid name', { tool: `x@y\n\u202e${'z'.repeat(5_000)}` }, { code: 'TOOL_UNKNOWN' }],
  ])('fails for %s, and calls nothing', async (_name, input, failure) => {
    const { tools, calls } = adding();
    const { run, shown } = await worker(tools);
    const { result, records } = await run(input);
    expect(result).toMatchObject({ status: 'error', failure });
    expect(result.failure!.message.length).toBeLessThan(1_000);
    expect(records).toMatchObject([{ data: { status: 'error', model: expect.stringMatching(/^mcp\.[\w./-]{1,100}$/) } }]);
    for (const { text } of (await shown()) as { text: string }[]) expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(calls).toEqual([]);
  });

  it('ends in time, and is cancelled with its task', async () => {
    const stuck = adding({ run: () => new Promise(() => {}) });
    const slow = await worker(stuck.tools);
    expect((await slow.run({ tool: 'precision.add', args: { values: [] } }, { timeoutS: 0.05 })).result).toMatchObject({
      status: 'timeout',
      failure: { code: 'CALL_TIMEOUT', message: expect.stringMatching(/ It may have run; it is not marked as safe to repeat\.$/) },
    });
    const harmless = await worker(adding({ run: () => new Promise(() => {}), repeatable: true }).tools);
    const { failure } = (await harmless.run({ tool: 'precision.add', args: { values: [] } }, { timeoutS: 0.05 })).result;
    expect(failure!.message).not.toContain('may have run');
    const told: string[] = [];
    const { tools } = adding({
      run: (_args, signal) => {
        told.push('called');
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            told.push('cancelled');
            reject(new Failure('CALL_CANCELLED'));
          });
        });
      },
    });
    const { run, stores } = await worker(tools);
    const running = run({ tool: 'precision.add', args: { values: [] } });
    await until('the call', () => told.length === 1);
    await stores.runs.cancel(taskId);
    expect((await running).result).toMatchObject({ status: 'cancelled' });
    expect(told).toEqual(['called', 'cancelled']);
  });

  it('keeps a long result as a whole, and shows the parts that the question is about', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ id: n, who: n === 444 ? 'Zimmermann' : `guest ${n}` }));
    const text = JSON.stringify({ rows, next: 'cursor-9' });
    const kept: string[] = [];
    const whole = (keep: WholeResults['keep']): WholeResults => ({ keep, questionOf: async () => 'Where is Zimmermann?' });
    const { tools } = adding({ run: async () => text });
    const { run } = await worker(tools, { whole: whole(async (_task, said) => void kept.push(said)) });
    const { output } = (await run({ tool: 'precision.add', args: { values: [] } })).result;
    expect((output as { facts: { text: string }[] }).facts[0]!.text).toMatch(
      /rows\[444\]: \{"id":444,"who":"Zimmermann"\}[^]*next: "cursor-9"/,
    );
    expect(kept).toEqual([text]);
    const away = whole(() => Promise.reject(new Failure('STORE_UNAVAILABLE')));
    const without = await worker(tools, { whole: away });
    expect((await without.run({ tool: 'precision.add', args: { values: [] } })).result).toMatchObject({
      status: 'ok',
      output: { notes: ['Only the excerpt of this result could be kept.'] },
    });
  });

  it('cuts a long result and says so; an empty result is not a fact', async () => {
    const long = await worker(adding({ run: async () => '😀'.repeat(4_000) }).tools);
    const { output } = (await long.run({ tool: 'precision.add', args: { values: [] } })).result;
    const [fact] = (output as { facts: { text: string }[] }).facts;
    expect(fact!.text.length).toBeLessThanOrEqual(4_000);
    expect(fact!.text).toMatch(/^[😀\n…]+\[Cut: 8000 characters, only some parts are shown\.\]$/u);
    const empty = await worker(adding({ run: async () => ' \n' }).tools);
    expect((await empty.run({ tool: 'precision.add', args: { values: [] } })).result).toMatchObject({
      status: 'ok',
      output: { facts: [], notes: ['`precision.add` returned an empty result.'] },
    });
  });
});
