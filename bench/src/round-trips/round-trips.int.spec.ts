import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRedis, type UrlInstance } from '@conclave/test-support/real-servers';
import { countHops, type CountedHop } from './count-hops.js';
import { countedKinds } from './table.js';

describe('the Redis commands of a hop', () => {
  let server: UrlInstance;
  let hops: readonly CountedHop[];
  beforeAll(async () => {
    server = await startRedis();
    hops = await countHops(server.url);
  }, 90_000);
  afterAll(() => server.destroy());

  it.each(countedKinds)('$hop: match the table every time', ({ hop, trips }) => {
    const measured = hops.filter((one) => one.hop === hop).map((one) => tally(one.trips));
    expect(measured.length).toBeGreaterThan(0);
    for (const one of measured) expect({ ...one, ...inTwo(one, trips) }).toEqual(trips);
  });

  it('are listed for every hop', () => {
    expect([...new Set(hops.map(({ hop }) => hop))].sort()).toEqual(countedKinds.map(({ hop }) => hop).sort());
  });
});

/** On a slow machine, entries of one hop may be too far apart to be appended together: two appends are as good as one. */
const inTwo = (one: Readonly<Record<string, number>>, trips: Readonly<Record<string, number>>) => {
  const { 'append-entries': fewest } = trips;
  return fewest !== undefined && one['append-entries'] === fewest + 1 ? { 'append-entries': fewest } : {};
};

const tally = (names: readonly string[]): Record<string, number> =>
  names.reduce<Record<string, number>>((counted, name) => ({ ...counted, [name]: (counted[name] ?? 0) + 1 }), {});
