import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startSearx, type UrlInstance } from '@conclave/test-support/real-servers';
import { openSearxng } from './searxng-search.js';

/** A word that no document contains by chance. */
const word = (): string => `w${Math.random().toString(36).slice(2).replace(/\d/g, 'x')}`;

describe('a real searx server', () => {
  let server: UrlInstance;
  const [bridge, builder] = [word(), word()];
  beforeAll(async () => {
    server = await startSearx({
      documents: [
        { url: 'https://docs.example/bridge', title: `The bridge ${bridge}`, body: `It was built by ${builder} & sons.` },
        ...Array.from({ length: 12 }, (_, n) => ({ url: `https://docs.example/${n}`, title: `Note ${n}`, body: 'Some other bridges.' })),
      ],
    });
  }, 60_000);
  afterAll(() => server.destroy(), 30_000);
  const ask = (query: string, limit = 5, signal = new AbortController().signal) =>
    openSearxng({ url: server.url }).query({ query, limit, signal });

  it('returns title, address and text of what it finds, best first', async () => {
    const [first] = await ask(`Who built the bridge ${bridge}?`);
    expect(first).toEqual({
      title: `The bridge ${bridge}`,
      url: 'https://docs.example/bridge',
      snippet: `It was built by ${builder} & sons.`,
    });
    expect(await ask('bridges', 4)).toHaveLength(4);
  });

  it('returns an empty list if nothing is found', async () => {
    expect(await ask(word())).toEqual([]);
  });

  it('takes any characters as words', async () => {
    for (const query of ['"', "'; DROP TABLE docs; --", 'a AND', '😀 %', '*']) expect(Array.isArray(await ask(query))).toBe(true);
  });

  it('is healthy, and unavailable once it is gone', async () => {
    const search = openSearxng({ url: server.url });
    expect(await search.health()).toBeNull();
    await server.kill();
    expect(await search.health()).toContain('does not answer');
    await expect(search.query({ query: 'x', limit: 1, signal: new AbortController().signal })).rejects.toMatchObject({
      code: 'SEARCH_UNAVAILABLE',
    });
    await server.restart();
    expect((await search.query({ query: bridge, limit: 1, signal: new AbortController().signal }))[0]?.url).toBe(
      'https://docs.example/bridge',
    );
  }, 60_000);
});
