import { describe, expect, it } from '@jest/globals';
import { SendsTogether } from './sends-together.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

class Refused extends Error {}

/** A broker that refuses requests with one of the `bad` records, and everything while it is `away`. */
function brokerWith(...bad: readonly string[]) {
  const requests: (readonly string[])[] = [];
  const broker = { away: false, requests };
  const sends = new SendsTogether<string>(
    async (records) => {
      requests.push(records);
      if (broker.away) throw new Error('away');
      if (records.some((record) => bad.includes(record))) throw new Refused('too large');
    },
    (error) => error instanceof Refused,
  );
  return { broker, requests, sends };
}

const statuses = async (all: readonly Promise<void>[]) => (await Promise.allSettled(all)).map(({ status }) => status);

describe('records', () => {
  it('that are sent in one turn of the event loop are one request, in order', async () => {
    const { requests, sends } = brokerWith();
    const all = [sends.send(['a', 'b']), sends.send([]), sends.send(['c'])];
    expect(requests).toEqual([]);
    await Promise.all(all);
    expect(requests).toEqual([['a', 'b', 'c']]);
  });

  it('that are sent in a later turn do not wait for an earlier request', async () => {
    const requests: (readonly string[])[] = [];
    const sends = new SendsTogether<string>(
      (records) => {
        requests.push(records);
        return new Promise(() => undefined);
      },
      () => false,
    );
    void sends.send(['a']);
    await turn();
    void sends.send(['b']);
    await turn();
    expect(requests).toEqual([['a'], ['b']]);
  });

  it('beside one that the broker refuses are sent without it', async () => {
    const { requests, sends } = brokerWith('b');
    expect(await statuses([sends.send(['a']), sends.send(['b']), sends.send(['c'])])).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(requests).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
  });

  it('all fail with an absent broker, which is contacted only once for all of them', async () => {
    const { broker, requests, sends } = brokerWith();
    broker.away = true;
    expect(await statuses([sends.send(['a']), sends.send(['b'])])).toEqual(['rejected', 'rejected']);
    expect(requests).toHaveLength(1);
    broker.away = false;
    await sends.send(['c']);
    expect(requests.at(-1)).toEqual(['c']);
  });
});
