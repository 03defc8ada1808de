import { beforeEach, describe, expect, it } from '@jest/globals';
import { CapabilityPolicy, Failure, type CapabilityPolicies, type FailureCode, type TaskDispatched } from '@conclave/contracts';
import { noProbe, openMetrics, silentLogger } from '@conclave/platform';
import { MemoryStores, systemClock, type Models } from '@conclave/ports';
import type * as z from 'zod';
import { CallMaker } from './call-maker.js';
import { CapabilityGuard } from './capability-guard.js';
import type { CallEnd } from './calls.js';
import { PermitKey, withPermit } from './permit.js';

let shift = 0;
let stores: MemoryStores;
/** Tasks whose tool was called. */
let called: string[];
beforeEach(() => {
  // 22 November 2023, 12:00 UTC.
  shift = Date.UTC(2023, 10, 22, 12) - systemClock.now();
  stores = new MemoryStores({ clock: { ...systemClock, now: () => systemClock.now() + shift } });
  called = [];
});

type Policies = Record<string, z.input<typeof CapabilityPolicy>>;
interface Wanted {
  readonly run?: string;
  readonly tenant?: string;
  readonly capability?: string;
  readonly tool?: string;
}
let tasks = 0;

/** A process that dispatches tasks under policies, and makes their calls. */
function process(id: string, given: Policies = {}) {
  const { state, stream } = stores.connect(id);
  const metrics = openMetrics();
  const key = new PermitKey(state.once);
  const observers = { probe: noProbe, logger: silentLogger, metrics };
  const guard = new CapabilityGuard({ state, ...observers, key });
  const maker = new CallMaker({
    ...{ state, stream, models: {} as Models, ...observers, guard },
    ...{ processId: id, service: 'experts', storePrompts: 'full' },
  });
  const policies: CapabilityPolicies = Object.fromEntries(
    Object.entries(given).map(([name, policy]) => [name, CapabilityPolicy.parse(policy)]),
  );
  const dispatched = async ({ run = 'run_00000001', tenant = 'acme', tool, capability = tool ? 'mcp' : 'research' }: Wanted) => {
    const taskId = `${run}/0/s${(tasks += 1)}`;
    const input = tool ? { kind: 'mcp', task: 'x', tool, args: {} } : { kind: 'research', task: 'x', query: 'x', limit: 5 };
    const data = { taskId, capability, tenant, input, startBy: stores.clock.now() + 1_000, timeoutS: 60 };
    const task = { id: taskId, type: 'TaskDispatched', runId: run, data } as unknown as TaskDispatched;
    return withPermit(task, policies, await key.get()) as TaskDispatched;
  };
  const make = (task: TaskDispatched, perform: () => Promise<string> = async () => 'found'): Promise<CallEnd> =>
    maker.tool(
      {
        ...{ runId: task.runId, owner: task.data.taskId, index: 0, purpose: task.data.capability, name: 'x', request: {}, task },
        ...{ deadline: stores.clock.now() + 30_000, signal: new AbortController().signal, isError: (reply) => reply === 'error' },
      },
      async () => {
        called.push(task.data.taskId);
        return perform();
      },
    );
  const call = async (asked: Wanted = {}, perform?: () => Promise<string>): Promise<FailureCode | 'reply'> => {
    const end = await make(await dispatched(asked), perform);
    return end.kind === 'failed' ? (end.failure.code as FailureCode) : (end.kind as 'reply');
  };
  return { call, make, dispatched, metrics };
}
const fails = (code: FailureCode) => () => Promise.reject(new Failure(code));

describe('the token, in the process that makes the call', () => {
  it('is verified before anything is called: a token of another run or capability, an expired one and a missing one are denied', async () => {
    const { make, dispatched } = process('one');
    const [a, b, c] = [await dispatched({}), await dispatched({}), await dispatched({})];
    const { permit } = (await dispatched({ run: 'run_00000002' })).data;
    const { permit: _none, ...bare } = c.data;
    const forged = [
      { ...a, data: { ...a.data, permit } },
      { ...b, data: { ...b.data, capability: 'graph' } },
      { ...c, data: bare },
    ] as TaskDispatched[];
    const failure = { code: 'PERMIT_INVALID' };
    for (const task of forged)
      expect(await make(task)).toMatchObject({ kind: 'failed', failure, record: { data: { status: 'error', failure } } });
    expect(called).toEqual([]);
    const late = await dispatched({});
    shift += 62_000;
    expect(await make(late)).toMatchObject({ kind: 'failed', failure: { code: 'PERMIT_EXPIRED' } });
    expect(called).toEqual([]);
    expect(await make(await dispatched({}))).toMatchObject({ kind: 'reply' });
  });

  it('is not verified again if the call has been made: its stored reply is returned, however late', async () => {
    const { make, dispatched } = process('one');
    const task = await dispatched({});
    expect(await make(task)).toMatchObject({ kind: 'reply', replayed: false });
    shift += 62_000;
    expect(await make(task)).toMatchObject({ kind: 'reply', replayed: true });
  });
});

describe('the policy', () => {
  it('lets as many calls through as its rate allows, over all processes, and the next ones when the window has moved on', async () => {
    const policies: Policies = { research: { rate: { calls: 2, per_s: 60 } } };
    const [one, two] = [process('one', policies), process('two', policies)];
    expect([await one.call(), await two.call(), await one.call(), await two.call()]).toEqual([
      'reply',
      'reply',
      'CAPABILITY_RATE_LIMITED',
      'CAPABILITY_RATE_LIMITED',
    ]);
    expect(called).toHaveLength(2);
    expect(await one.call({ run: 'run_00000002' })).toBe('reply');
    shift += 60_000;
    expect(await one.call()).toBe('reply');
  });

  it('counts all runs of a tenant if the policy says so, and tools separately', async () => {
    const { call } = process('one', { 'hotel.book': { rate: { calls: 1, of: 'tenant' } }, '*': {} });
    expect(await call({ tool: 'hotel.book' })).toBe('reply');
    expect(await call({ tool: 'hotel.book', run: 'run_00000002' })).toBe('CAPABILITY_RATE_LIMITED');
    expect(await call({ tool: 'hotel.book', tenant: 'rival' })).toBe('reply');
    for (let n = 0; n < 5; n += 1) expect(await call({ tool: 'hotel.look' })).toBe('reply');
  });

  it('counts a task once, no matter which process repeats it', async () => {
    const { make, dispatched, call } = process('one', { research: { rate: { calls: 1 } } });
    const task = await dispatched({});
    const broken = make(task, () => Promise.reject(new TypeError('a fault of ours')));
    await expect(broken).rejects.toThrow('a fault of ours');
    expect(await make(task)).toMatchObject({ kind: 'reply' });
    expect(await call()).toBe('CAPABILITY_RATE_LIMITED');
  });

  it.each([
    ['from 06:00 to 22:00', { from: '06:00', to: '22:00' }, 'reply'],
    ['from 13:00 to 22:00', { from: '13:00', to: '22:00' }, 'CAPABILITY_OUT_OF_HOURS'],
    ['from 22:00 to 06:00', { from: '22:00', to: '06:00' }, 'CAPABILITY_OUT_OF_HOURS'],
    ['from 11:00 to 06:00', { from: '11:00', to: '06:00' }, 'reply'],
    ['from 13:00 to 14:00 in Berlin', { from: '13:00', to: '14:00', timezone: 'Europe/Berlin' }, 'reply'],
  ])('at noon in UTC, with the hours %s', async (_what, hours, outcome) => {
    expect(await process('one', { research: { hours } }).call()).toBe(outcome);
  });

  it('limits how deep in child runs a capability may be called', async () => {
    const { call } = process('one', { graph: { chain_depth: 0 } });
    const [child, deep] = ['run_00000001~0.a', 'run_00000001~0.a~0.b~0.c'];
    expect(await call({ capability: 'graph' })).toBe('reply');
    expect(await call({ capability: 'graph', run: child })).toBe('CAPABILITY_TOO_DEEP');
    expect(await call({ run: deep })).toBe('reply');
    expect(await call({ run: `${deep}~0.d` })).toBe('CAPABILITY_TOO_DEEP');
  });
});

describe('the circuit breaker of a capability', () => {
  const openMs = 300_000;
  const policies: Policies = { '*': { breaker: { failures: 3, open_s: 300, counts: 'outages' } } };

  it('opens after three failures in a row, for every process and only this tenant, and closes when one probe succeeds', async () => {
    const [one, two] = [process('one', policies), process('two', policies)];
    for (let n = 0; n < 3; n += 1) expect(await one.call({}, fails('SEARCH_UNAVAILABLE'))).toBe('SEARCH_UNAVAILABLE');
    called = [];
    expect([await one.call(), await two.call()]).toEqual(['CAPABILITY_UNWELL', 'CAPABILITY_UNWELL']);
    expect(called).toEqual([]);
    expect([await one.call({ capability: 'graph' }), await one.call({ tenant: 'rival' })]).toEqual(['reply', 'reply']);
    expect(await one.metrics.text()).toContain('conclave_capability_breaker_openings_total{capability="research"} 1');
    shift += openMs;
    const three = process('three', policies);
    expect(await three.call({}, fails('SEARCH_UNAVAILABLE'))).toBe('SEARCH_UNAVAILABLE');
    expect(await three.call()).toBe('CAPABILITY_UNWELL');
    shift += openMs;
    expect([await process('four', policies).call(), await process('five', policies).call()]).toEqual(['reply', 'reply']);
  });

  it('counts by default only failures for which the caller waited a second', async () => {
    const { call } = process('one', { '*': { breaker: { failures: 1 } } });
    for (let n = 0; n < 8; n += 1) expect(await call({}, fails('SEARCH_UNAVAILABLE'))).toBe('SEARCH_UNAVAILABLE');
    const late = () => new Promise<string>((_, reject) => setTimeout(reject, 1_010, new Failure('SEARCH_UNAVAILABLE')));
    expect(await call({}, late)).toBe('SEARCH_UNAVAILABLE');
    expect(await call()).toBe('CAPABILITY_UNWELL');
  });

  it('does not count failures caused by the arguments, and errors that a tool returns only if the policy says so', async () => {
    const hotel = { tool: 'hotel.book' };
    const bad = fails('TOOL_ARGUMENTS_INVALID');
    const lenient = process('one', { '*': { breaker: { failures: 2 } } });
    for (let n = 0; n < 3; n += 1) expect(await lenient.call(hotel, bad)).toBe('TOOL_ARGUMENTS_INVALID');
    for (let n = 0; n < 3; n += 1) expect(await lenient.call(hotel, async () => 'error')).toBe('reply');
    const strict = process('two', { '*': { breaker: { failures: 2, counts: 'errors' } } });
    for (let n = 0; n < 2; n += 1) expect(await strict.call(hotel, async () => 'error')).toBe('reply');
    expect(await strict.call(hotel)).toBe('CAPABILITY_UNWELL');
  });
});
