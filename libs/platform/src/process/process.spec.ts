import { describe, expect, it, jest } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import type { Leases, StoreMark } from '@conclave/ports';
import { until } from '@conclave/ports/suites';
import { silentLogger } from '../logging/logger.js';
import { openMetrics } from '../metrics/metrics.js';
import { openAdminServer } from './admin-server.js';
import { holdProcessLease } from './process-lease.js';
import { openReadiness } from './readiness.js';
import { openShutdown } from './shutdown.js';
import { checkAudit, checkRetention, claimStores, holdStoreMark } from './store-identity.js';

const stores = (beside: StoreMark | null, own: StoreMark | null) => {
  const marks = { beside, own };
  return {
    marks,
    log: { identity: { read: async () => marks.beside, write: async (mark: StoreMark) => void (marks.beside = mark) } },
    state: {
      identity: {
        read: async () => marks.own,
        start: async (storeId: string) =>
          (marks.own = marks.own ? { ...marks.own, generation: marks.own.generation + 1 } : { storeId, generation: 1 }),
      },
    },
  };
};

describe('the check between log and state store', () => {
  it('writes the same mark to both if both are new', async () => {
    const { log, state, marks } = stores(null, null);
    await claimStores(log, state);
    expect(marks.own).toEqual(marks.beside);
    expect(marks.own).toMatchObject({ generation: 1 });
  });

  it('raises the generation in both with every start', async () => {
    const { log, state, marks } = stores({ storeId: 'a', generation: 4 }, { storeId: 'a', generation: 4 });
    await claimStores(log, state);
    expect(marks).toEqual({ own: { storeId: 'a', generation: 5 }, beside: { storeId: 'a', generation: 5 } });
  });

  it('accepts a log that does not know of the last start', async () => {
    const { log, state } = stores({ storeId: 'a', generation: 4 }, { storeId: 'a', generation: 6 });
    await expect(claimStores(log, state)).resolves.toEqual({ storeId: 'a', generation: 7 });
  });

  it.each([
    ['an empty store', null, 'is empty'],
    ['another store', { storeId: 'b', generation: 9 }, 'this state store is b'],
    ['an older copy', { storeId: 'a', generation: 3 }, 'older copy'],
  ] as const)('refuses %s and changes nothing', async (_name, own, words) => {
    const { log, state, marks } = stores({ storeId: 'a', generation: 4 }, own);
    const error = await claimStores(log, state).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Failure);
    expect(error).toMatchObject({ code: 'STORE_REPLACED' });
    expect((error as Failure).message).toContain(words);
    expect(marks).toEqual({ beside: { storeId: 'a', generation: 4 }, own });
  });

  it('writes a newer mark beside the log from time to time and at the end, and never an older one', async () => {
    const claimed = { storeId: 'a', generation: 4 };
    const { log, state, marks } = stores(claimed, { storeId: 'a', generation: 9 });
    const held = holdStoreMark(log, state, claimed, silentLogger, 5);
    await until('it to be written', () => marks.beside?.generation === 9);
    marks.own = { storeId: 'a', generation: 12 };
    await held.end();
    expect(marks.beside).toEqual({ storeId: 'a', generation: 12 });
    for (const own of [null, { storeId: 'a', generation: 3 }, { storeId: 'b', generation: 99 }]) {
      const other = stores(claimed, own);
      await holdStoreMark(other.log, other.state, claimed, silentLogger).end();
      expect(other.marks.beside).toEqual(claimed);
    }
  });

  it('lists topics that keep records longer than the store remembers them', () => {
    expect(() => checkRetention([{ name: 'a', retentionMs: 3_600_000 }], 3_600_000)).not.toThrow();
    expect(() =>
      checkRetention(
        [
          { name: 'a', retentionMs: 7_200_000 },
          { name: 'b', retentionMs: -1 },
        ],
        3_600_000,
      ),
    ).toThrow(/a \(2 h\), b \(forever\)/);
  });

  it('lists topics of runs that keep records longer than the audit, which dead letters may', () => {
    const day = 86_400_000;
    const of = (audit: number, plans: number) => [
      { name: 'audit', retentionMs: audit },
      { name: 'plan.requested', retentionMs: plans },
      { name: 'dead', retentionMs: 90 * day },
    ];
    expect(() => checkAudit(of(14 * day, 14 * day))).not.toThrow();
    expect(() => checkAudit(of(-1, 14 * day))).not.toThrow();
    expect(() => checkAudit(of(7 * day, 14 * day))).toThrow(/shorter time than plan\.requested: `conclave recover` would restart runs/);
    expect(() => checkAudit(of(7 * day, -1))).toThrow(/plan\.requested/);
  });
});

describe('a process lease', () => {
  it('is renewed, is not ready when it may have expired, and ends with the process', async () => {
    jest.useFakeTimers();
    try {
      let answers = true;
      const renewed: number[] = [];
      const ended: string[] = [];
      const leases = {
        renewProcess: async () => {
          if (!answers) throw new Failure('STORE_UNAVAILABLE');
          renewed.push(1);
        },
        endProcess: async (id: string) => void ended.push(id),
      } as unknown as Leases;
      const lease = await holdProcessLease(leases, { id: 'p1', service: 'experts', classes: ['expert'] }, silentLogger);
      await jest.advanceTimersByTimeAsync(8_000);
      // At once, then every 2 s.
      expect(renewed).toHaveLength(5);
      expect(await lease.health()).toBeNull();
      answers = false;
      await jest.advanceTimersByTimeAsync(12_000);
      expect(await lease.health()).toContain('has expired');
      answers = true;
      await jest.advanceTimersByTimeAsync(3_000);
      expect(await lease.health()).toBeNull();
      await lease.end();
      expect(ended).toEqual(['p1']);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('the admin server', () => {
  it('answers for liveness, readiness and metrics', async () => {
    const readiness = openReadiness();
    const metrics = openMetrics({ runtime: true });
    let problem: string | null = null;
    readiness.add('log', () => problem);
    const extensions = [{ kind: 'strategy' as const, name: 'jury', version: '9de019a34cf016f4' }];
    const server = await openAdminServer({ host: '127.0.0.1', port: 0, readiness, metrics, extensions });
    try {
      const get = async (path: string) => {
        const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
        return { status: response.status, text: await response.text() };
      };
      expect((await get('/health/live')).status).toBe(200);
      expect((await get('/health/ready')).status).toBe(200);
      problem = 'no fetch round for 30 s.';
      expect(await get('/health/ready')).toEqual({
        status: 503,
        text: JSON.stringify({ status: 'not ready', problems: ['log: no fetch round for 30 s.'], extensions }),
      });
      metrics.count('decisions_total', { rule: 'D3' });
      const { text } = await get('/metrics');
      expect(text).toContain('conclave_decisions_total{rule="D3"} 1');
      expect(text).not.toContain('nodejs_active_handles_total');
      expect((await get('/nothing')).status).toBe(404);
    } finally {
      await server.close();
    }
  });

  it('counts a check that throws as not ready', async () => {
    const readiness = openReadiness();
    readiness.add('state', () => Promise.reject(new Failure('STORE_UNAVAILABLE')));
    expect(await readiness.problems()).toEqual(['state: The state store does not answer.']);
  });
});

describe('a shutdown', () => {
  it('closes what was opened last first, once, and continues after a failure', async () => {
    const closed: string[] = [];
    const shutdown = openShutdown(silentLogger);
    shutdown.add('stores', () => void closed.push('stores'));
    shutdown.add('broken', () => Promise.reject(new Error('cannot')));
    shutdown.add('http', async () => void closed.push('http'));
    await Promise.all([shutdown.run(), shutdown.run()]);
    expect(closed).toEqual(['http', 'stores']);
  });
});
