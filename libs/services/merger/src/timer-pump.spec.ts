import { describe, expect, it } from '@jest/globals';
import type { Event } from '@conclave/contracts';
import { noProbe, openMetrics, silentLogger } from '@conclave/platform';
import { MemoryStores, type DueTimer, type EventLog, type StateStore } from '@conclave/ports';
import { counting, nthInput, timer as armed, until, type Tally } from '@conclave/ports/suites';
import { TimerPump } from './timer-pump.js';

const timer = (n: number): DueTimer => ({ runId: `run_${String(n).padStart(8, '0')}`, name: 'due', arm: 1, dueAt: 5 });
/** Every run has one overdue task and one that is not. */
const task = (startBy: number) => ({
  status: 'open',
  started: false,
  startBy,
  deadline: 90_000,
  taskClass: 'expert',
  spec: { capability: 'expert.general' },
});
const stateOf = (runId: string) => ({ tasks: { [`${runId}/0/x1`]: task(-2_000), [`${runId}/0/x2`]: task(50_000) } });

const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;

/** A world of due timers; the first `failing` publications fail. */
function world(count: number, failing = 0, read: (runId: string) => unknown = stateOf) {
  const due = Array.from({ length: count }, (_, n) => timer(n));
  const order: string[] = [];
  let settled: () => void = () => undefined;
  const empty = new Promise<void>((resolve) => (settled = resolve));
  const idle = (_ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  const state = {
    now: () => Promise.resolve(9),
    journal: { started: () => Promise.resolve(true) },
    leases: { liveWorkers: () => Promise.resolve(2) },
    runs: {
      unpublished: () => Promise.resolve([]),
      header: () => Promise.resolve({ traceparent }),
      read: (runId: string) => Promise.resolve({ state: read(runId) }),
    },
    timers: {
      due: (limit: number) => Promise.resolve(due.slice(0, limit)),
      remove: (one: DueTimer) => {
        order.push(`remove ${one.runId}`);
        due.splice(
          due.findIndex((other) => other.runId === one.runId),
          1,
        );
        if (due.length === 0) settled();
        return Promise.resolve();
      },
      wait: idle,
    },
  } as unknown as StateStore;
  let failures = failing;
  const published: Event[] = [];
  const log = {
    publish: (events: readonly Event[]) => {
      if (failures-- > 0) return Promise.reject(new Error('away'));
      published.push(...events);
      for (const event of events) order.push(`publish ${event.runId}`);
      return Promise.resolve();
    },
  } as unknown as EventLog;
  const told: unknown[] = [];
  const logger = { ...silentLogger, error: (message: string, fields: unknown) => void told.push([message, fields]) };
  return { pump: new TimerPump(state, log, logger, noProbe, { count: () => undefined }), empty, published, order, told };
}

describe('the timer pump', () => {
  it('publishes every due timer, however many there are, and removes none before it is published', async () => {
    const { pump, empty, published, order } = world(230);
    pump.onApplicationBootstrap();
    await empty;
    await pump.onApplicationShutdown();
    expect(published).toHaveLength(230);
    expect(published[0]).toMatchObject({
      id: 'run_00000000/timer/1',
      data: { arm: 1, firedAt: 9, tasks: [{ taskId: 'run_00000000/0/x1', started: true, liveWorkers: 2 }] },
      traceparent: expect.stringContaining('ab'.repeat(16)),
    });
    for (const n of [0, 99, 229]) {
      const { runId } = timer(n);
      expect(order.indexOf(`publish ${runId}`)).toBeLessThan(order.indexOf(`remove ${runId}`));
    }
  });

  it('keeps what could not be published, and ends immediately when told to', async () => {
    const { pump, empty, published } = world(1, 1);
    pump.onApplicationBootstrap();
    await empty;
    await pump.onApplicationShutdown();
    expect(published).toHaveLength(1);
  });

  it('fires the timer of a run whose state cannot be used, so that the engine can end it', async () => {
    const { pump, empty, published, told } = world(2, 0, (runId) => (runId.endsWith('1') ? { tasks: null } : stateOf(runId)));
    pump.onApplicationBootstrap();
    await empty;
    await pump.onApplicationShutdown();
    expect(published.map(({ runId, data }) => [runId, (data as { tasks: unknown[] }).tasks.length])).toEqual([
      ['run_00000000', 1],
      ['run_00000001', 0],
    ]);
    expect(told).toMatchObject([[expect.stringContaining('fires without them'), { run: 'run_00000001', error: expect.any(TypeError) }]]);
  });

  it('drops a timer that cannot become an event, reports and counts it, and fires all other timers', async () => {
    const { state } = new MemoryStores().connect('merger');
    const next = { count: 1, seen: [], tasks: {} };
    const arm = (runId: string, names: readonly string[]) =>
      state.runs.commit<Tally>(nthInput(runId, 1), counting(nthInput(runId, 1), { next, arm: names.map((name, at) => armed(name, at)) }));
    await arm('no run at all', ['wall']);
    await arm('run_00000001', ['planning', ...Array.from({ length: 120 }, (_, n) => `task:${n}`)]);
    const published: string[] = [];
    const log = {
      publish: (events: readonly Event[]) => Promise.resolve(void published.push(...events.map(({ runId }) => runId))),
    } as unknown as EventLog;
    const metrics = openMetrics();
    const told: unknown[] = [];
    const logger = { ...silentLogger, error: (message: string, fields: unknown) => void told.push([message, fields]) };
    const runs = { unpublished: () => Promise.resolve([]), header: () => Promise.resolve(null), read: () => Promise.resolve(null) };
    const pump = new TimerPump({ ...state, runs } as unknown as StateStore, log, logger, noProbe, metrics);
    pump.onApplicationBootstrap();
    await until('every timer has gone', async () => (await state.timers.due(1)).length === 0);
    await pump.onApplicationShutdown();
    expect(published).toEqual(Array.from({ length: 121 }, () => 'run_00000001'));
    expect(await metrics.text()).toContain('conclave_timers_dropped_total 1');
    expect(told).toMatchObject([[expect.stringContaining('dropped'), { run: 'no run at all', timer: 'wall', arm: 1 }]]);
  });
});
