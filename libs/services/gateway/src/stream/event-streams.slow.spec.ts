import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { twoTenants, World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open({ keys: twoTenants, limits: { eventStreams: 2 } });
});
afterEach(() => world.close());

const started = async (key: string): Promise<string> => {
  const response = await fetch(`${world.url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ model: 'conclave', input: 'Why?' }),
  });
  return ((await response.json()) as { id: string }).id;
};

/** Opens a stream; `leave` disconnects it. */
async function open(key: string, path: string) {
  const leaving = new AbortController();
  const response = await fetch(`${world.url}${path}`, { headers: { 'x-api-key': key }, signal: leaving.signal });
  return { response, leave: () => leaving.abort() };
}

describe('the event streams of a key', () => {
  it('are refused above their number, whichever route they use, until one is closed', async () => {
    const run = await started('sk-a');
    const first = await open('sk-a', `/v1/runs/${run}/events`);
    const second = await open('sk-a', `/v1/events?runs=${run}`);
    expect([first.response.status, second.response.status]).toEqual([200, 200]);
    for (const path of [`/v1/runs/${run}/events`, `/v1/events?runs=${run}`]) {
      const { response } = await open('sk-a', path);
      expect(response.status).toBe(429);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await response.json()).toMatchObject({ error: { code: 'STREAMS_OPEN' } });
    }
    first.leave();
    await until('a free place', async () => {
      const { response, leave } = await open('sk-a', `/v1/runs/${run}/events`);
      if (response.status !== 200) leave();
      return response.status === 200;
    });
  });

  it('do not count for other keys, nor do streams that were refused for another reason or have ended', async () => {
    const [own, foreign] = [await started('sk-a'), await started('sk-b')];
    for (let n = 0; n < 3; n += 1) expect((await open('sk-a', `/v1/runs/${foreign}/events`)).response.status).toBe(404);
    await open('sk-b', `/v1/runs/${foreign}/events`);
    await open('sk-b', `/v1/runs/${foreign}/events`);
    expect((await open('sk-b', `/v1/runs/${foreign}/events`)).response.status).toBe(429);
    expect((await open('sk-a', `/v1/runs/${own}/events`)).response.status).toBe(200);
  });

  it('count as streams of stored responses do', async () => {
    const created = await fetch(`${world.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'sk-a' },
      body: JSON.stringify({ model: 'conclave', input: 'Why?', background: true }),
    });
    const { id } = (await created.json()) as { id: string };
    const streams = [1, 2, 3].map(() => open('sk-a', `/v1/responses/${id}?stream=true`));
    expect((await Promise.all(streams)).map(({ response }) => response.status).sort()).toEqual([200, 200, 429]);
  });
});
