import { describe, expect, it } from '@jest/globals';
import type { Event } from '@conclave/contracts';
import { openMetrics, silentLogger } from '@conclave/platform';
import { MemoryStores, parkedFlag, type EventLog } from '@conclave/ports';
import { acceptance } from '@conclave/ports/suites';
import { RunParking } from './run-parking.js';

const runId = 'run_parked0001';

async function world() {
  let now = 1_000;
  const stores = new MemoryStores({ clock: { now: () => now, random: () => 0, after: () => () => undefined } });
  const gateway = stores.connect('gateway');
  const { state } = stores.connect('merger');
  const published: Event[] = [];
  let isAway = false;
  const log = {
    publish: (events: readonly Event[]) => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(void published.push(...events))),
  } as unknown as EventLog;
  const metrics = openMetrics();
  const parking = new RunParking(state, log, silentLogger, metrics, 60_000);
  await state.runs.accept(acceptance(runId));
  await state.leases.renewProcess({ id: 'gateway', service: 'gateway', classes: [], ttlMs: 6_000 });
  await gateway.state.runs.attach(runId, 'client');
  return {
    ...{ state, published, metrics, parking, gateway },
    pass: (ms: number) => void (now += ms),
    logIs: (state: 'away' | 'back') => void (isAway = state === 'away'),
  };
}

describe('a run whose gateway died', () => {
  it('is left alone while the gateway is alive, then parked, and cancelled when no client came back in time', async () => {
    const { state, published, metrics, parking, pass } = await world();
    await parking.sweep();
    expect((await state.runs.cancelled([parkedFlag(runId)])).size).toBe(0);
    pass(6_000);
    await parking.sweep();
    expect(await state.runs.cancelled([runId, parkedFlag(runId)])).toEqual(new Set([parkedFlag(runId)]));
    expect(await metrics.text()).toContain('conclave_parked_runs_total 1');
    pass(59_999);
    await parking.sweep();
    expect(published).toEqual([]);
    pass(1);
    await parking.sweep();
    await parking.sweep();
    expect(published).toMatchObject([
      { type: 'CommandIssued', runId, source: 'merger', data: { seq: 1, actor: 'merger', command: { name: 'cancel' } } },
    ]);
    expect((await state.runs.cancelled([runId])).has(runId)).toBe(true);
  });

  it('continues when a client has come back, for as long as it stays', async () => {
    const { state, published, parking, pass } = await world();
    pass(6_000);
    await parking.sweep();
    await state.leases.renewProcess({ id: 'merger', service: 'merger', classes: [], ttlMs: 600_000 });
    await state.runs.attach(runId, 'again');
    pass(120_000);
    await parking.sweep();
    expect(published).toEqual([]);
    expect((await state.runs.cancelled([runId, parkedFlag(runId)])).size).toBe(0);
  });

  it('is cancelled as soon as the log is reachable', async () => {
    const { published, parking, pass, logIs } = await world();
    pass(6_000);
    await parking.sweep();
    pass(60_000);
    logIs('away');
    await expect(parking.sweep()).rejects.toThrow('away');
    logIs('back');
    await parking.sweep();
    expect(published).toHaveLength(1);
  });
});
