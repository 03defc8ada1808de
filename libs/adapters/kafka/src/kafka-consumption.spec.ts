import { describe, expect, it } from '@jest/globals';
import { MemoryBlobs, MemoryDeliveries } from '@conclave/ports';
import type { Admin, Kafka } from 'kafkajs';
import { KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } from 'kafkajs';
import { KafkaConsumption } from './kafka-consumption.js';
import { silent, timingOf } from './options.js';

const codes = { loading: 14, denied: 30 } as const;

/** A cluster whose groups answer joining with these errors of the protocol, one after the other, and then take the member. */
function clusterThatAnswers(errors: readonly (keyof typeof codes)[]) {
  const ledger = new MemoryDeliveries().ledger('test');
  const waiting = [...errors];
  let joins = 0;
  let ended = 0;
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
        if (!next) return listeners.get('join')!({ payload: { memberAssignment: {}, memberId: 'me' } });
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
    logger: silent,
    pool: { ledger } as never,
    commitsAtHandOver: false,
    ended: () => {},
  });
  return { consumption, seen: () => ({ joins, ended }) };
}

describe('joining a consumer group', () => {
  it('goes on while the broker reads its groups', async () => {
    const { consumption, seen } = clusterThatAnswers(['loading', 'loading']);
    await consumption.start();
    expect(consumption.health()).toBeNull();
    expect(seen()).toEqual({ joins: 3, ended: 2 });
    await consumption.close();
  });

  it('ends with LOG_UNAVAILABLE and the reason when the broker refuses it', async () => {
    const { consumption, seen } = clusterThatAnswers(['loading', 'denied']);
    await expect(consumption.start()).rejects.toMatchObject({
      code: 'LOG_UNAVAILABLE',
      message: expect.stringContaining('Joining merger: It is denied.'),
    });
    expect(seen().joins).toBe(2);
  });
});
