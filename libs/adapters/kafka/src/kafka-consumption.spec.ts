import { describe, expect, it, jest } from '@jest/globals';
import { MemoryBlobs, MemoryDeliveries } from '@conclave/ports';
import type { Admin, Kafka } from 'kafkajs';
import { KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } from 'kafkajs';
import { KafkaConsumption } from './kafka-consumption.js';
import { Absence } from './absence.js';
import { silent, timingOf, type KafkaLogger } from './options.js';

const codes = { loading: 14, denied: 30, away: 15 } as const;

/** A cluster that answers joins with these protocol errors, one after the other, and then accepts the member. */
function clusterThatAnswers(errors: readonly (keyof typeof codes)[], logger: KafkaLogger = silent) {
  const ledger = new MemoryDeliveries().ledger('test');
  const waiting = [...errors];
  let joins = 0;
  let ended = 0;
  let crash = () => {};
  const consumer = () => {
    const listeners = new Map<string, (event: object) => void>();
    return {
      events: { GROUP_JOIN: 'join', FETCH: 'fetch', CRASH: 'crash' },
      on: (name: string, listener: (event: object) => void) => void listeners.set(name, listener),
      connect: async () => {},
      subscribe: async () => {},
      run: async () => {
        joins += 1;
        const next = waiting.shift();
        if (!next) {
          crash = () => listeners.get('crash')!({ payload: { error: new Error('connect ECONNREFUSED') } });
          listeners.get('join')!({ payload: { memberAssignment: {}, memberId: 'me' } });
          return listeners.get('fetch')!({});
        }
        const type = next === 'loading' ? 'GROUP_LOAD_IN_PROGRESS' : 'GROUP_AUTHORIZATION_FAILED';
        const cause = Object.assign(new KafkaJSProtocolError(`It is ${next}.`), { type, code: codes[next] });
        listeners.get('crash')!({ payload: { error: new KafkaJSNumberOfRetriesExceeded(cause, { retryCount: 5, retryTime: 1 }) } });
      },
      pause: () => {},
      resume: () => {},
      disconnect: async () => void (ended += 1),
    };
  };
  const consumption = new KafkaConsumption({
    kafka: { consumer } as unknown as Kafka,
    admin: {} as Admin,
    subscription: { group: 'merger', topics: ['results'], concurrency: 1, handle: async () => [] },
    prefix: '',
    timing: timingOf({ brokers: [], clientId: 'test', blobs: new MemoryBlobs(), ledger }),
    logger,
    absence: new Absence(logger),
    pool: { ledger } as never,
    commitsAtHandOver: false,
    ended: () => {},
  });
  /** Crashes the joined member; the next joins meet the errors in `more` first. */
  const breaks = (more: readonly (keyof typeof codes)[]): void => {
    waiting.push(...more);
    crash();
  };
  return { consumption, breaks, seen: () => ({ joins, ended }) };
}

describe('joining a consumer group', () => {
  it('continues while the broker loads its groups', async () => {
    const { consumption, seen } = clusterThatAnswers(['loading', 'loading']);
    await consumption.start();
    expect(consumption.health()).toBeNull();
    expect(seen()).toEqual({ joins: 3, ended: 2 });
    await consumption.close();
  });

  it('fails with LOG_UNAVAILABLE and the reason when the broker refuses it', async () => {
    const { consumption, seen } = clusterThatAnswers(['loading', 'denied']);
    await expect(consumption.start()).rejects.toMatchObject({
      code: 'LOG_UNAVAILABLE',
      message: expect.stringContaining('Joining merger: It is denied.'),
    });
    expect(seen().joins).toBe(2);
  });
});

describe('a broker that goes away', () => {
  const lines = () => {
    const told: string[] = [];
    const at =
      (level: string) =>
      (message: string): void =>
        void told.push(`${level} ${message}`);
    return { told, logger: { debug: () => {}, info: at('info'), warn: at('warn'), error: at('error') } };
  };
  const gone = expect.stringMatching(/^warn The connection to Kafka was lost\. No records are consumed until it is back/);
  const back = expect.stringMatching(/^info Kafka is back/);

  it('is reported once when it goes and once when it is back, however often joining fails in the meantime', async () => {
    jest.useFakeTimers();
    try {
      const { told, logger } = lines();
      const { consumption, breaks, seen } = clusterThatAnswers([], logger);
      await consumption.start();
      told.length = 0;
      breaks(['away', 'away', 'away', 'away']);
      await jest.advanceTimersByTimeAsync(20_000);
      expect(seen().joins).toBe(6);
      expect(told.filter((line) => !line.includes('Joined'))).toEqual([gone, back]);
      breaks([]);
      await jest.advanceTimersByTimeAsync(5_000);
      expect(told.filter((line) => !line.includes('Joined'))).toEqual([gone, back, gone, back]);
      await consumption.close();
    } finally {
      jest.useRealTimers();
    }
  });

  it('is reported once for all groups of a process, and is back with the last of them', () => {
    const { told, logger } = lines();
    const absence = new Absence(logger);
    absence.gone('merger', new Error('one'));
    absence.gone('learning', new Error('two'));
    absence.gone('tasks.judge', new Error('three'));
    absence.back('merger');
    absence.forget('tasks.judge');
    expect(told).toEqual([gone]);
    absence.back('learning');
    absence.back('learning');
    expect(told).toEqual([gone, back]);
  });
});
