import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { SseClient } from '../__fixtures__/sse-client.js';
import { completed, World } from '../__fixtures__/world.js';

/** A question in each API. */
const apis = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Why is the sky blue?' }] },
  '/v1/messages': { max_tokens: 500, messages: [{ role: 'user', content: 'Why is the sky blue?' }] },
  '/v1/responses': { input: 'Why is the sky blue?' },
  '/v1/completions': { prompt: 'Why is the sky blue?' },
} as const;
const model = 'conclave';
/** The heartbeat of each API while the answer is pending. */
const heartbeats: Readonly<Record<string, RegExp>> = {
  '/v1/chat/completions': /^: keep-alive$/,
  '/v1/messages': /^event: ping\ndata: \{"type":"ping"\}$/,
  '/v1/responses': /^: keep-alive$/,
  '/v1/completions': /^: keep-alive$/,
};

let world: World;
beforeEach(async () => {
  world = await World.open({ limits: { maxBodyBytes: 2_000, openRuns: 1, firstHeartbeatMs: 5, heartbeatMs: 5 } });
});
afterEach(() => world.close());

const codeOf = async (response: Response): Promise<string> => ((await response.json()) as { error: { code: string } }).error.code;

describe.each(Object.entries(apis))('%s', (path, question) => {
  const ask = (over: object = {}, init: Parameters<World['post']>[2] = {}) => world.post(path, { model, ...question, ...over }, init);

  it('has the body limits that every API has', async () => {
    const refused = [
      [await world.post(path, 'x=1', { headers: { 'content-type': 'text/plain' } }), 415, 'MEDIA_TYPE_UNSUPPORTED'],
      [await world.post(path, '{"model":'), 400, 'REQUEST_NOT_JSON'],
      [await world.post(path, `{"model":${'['.repeat(65)}${']'.repeat(65)}}`), 400, 'REQUEST_TOO_COMPLEX'],
      [await ask({ padding: 'x'.repeat(3_000) }), 413, 'REQUEST_TOO_LARGE'],
      [await ask({ model: 'nobody' }), 404, 'model_not_found'],
      [await ask({ conclave: { cach: true } }), 400, 'REQUEST_INVALID'],
      [await ask({}, { headers: { 'x-conclave-round': '1' } }), 400, 'REQUEST_INVALID'],
    ] as const;
    for (const [response, status, code] of refused) {
      expect([response.status, await codeOf(response)]).toEqual([status, code]);
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      expect(response.headers.get('x-should-retry')).toBe('false');
    }
    expect(world.runs()).toEqual([]);
  });

  it('names its run, attaches a repeat to it, and refuses excess requests before the head', async () => {
    const headers = { 'x-request-id': 'mine', 'x-stainless-retry-count': '1' };
    const first = ask({}, { headers });
    await until('the run', () => world.requested().length === 1);
    const again = ask({}, { headers });
    await until('the repeat', () => world.metric('onAttached').length === 1);
    const other = await ask({ stream: true });
    expect([other.status, await codeOf(other), Number(other.headers.get('retry-after')) > 0]).toEqual([429, 'OVERLOADED', true]);
    world.write(completed());
    const both = await Promise.all([first, again]);
    const facts = both.map(({ status, headers: said }) => [
      status,
      said.get('x-run-id'),
      said.get('x-request-id'),
      said.get('x-conclave-cost'),
    ]);
    expect(facts).toEqual(Array(2).fill([200, world.run(), 'mine', '0.25']));
    expect(await both[0]!.json()).toEqual(await both[1]!.json());
  });

  it('sends heartbeats while it has nothing to send and cancels the run when the client disconnects', async () => {
    const leaving = new AbortController();
    const stream = new SseClient(await ask({ stream: true }, { signal: leaving.signal }));
    await until('two heartbeats', () => stream.events.filter(({ raw }) => heartbeats[path]!.test(raw)).length > 2);
    leaving.abort();
    await until('the cancel', () => world.stores.flagged.has(world.run()), { timeoutMs: 1_000 });
  });

  it('cancels the run of an answer that is not streamed when the client disconnects', async () => {
    const leaving = new AbortController();
    const asked = ask({}, { signal: leaving.signal });
    await until('the client', () => world.runs().length === 1 && world.stores.clients(world.run()).size === 1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await until('the cancel', () => world.stores.flagged.has(world.run()), { timeoutMs: 1_000 });
  });

  it('never ends a stream normally before the answer is complete', async () => {
    const stream = new SseClient(await ask({ stream: true }));
    await until('the run', () => world.requested().length === 1);
    world.compose();
    await world.chunk('It is ', 0);
    world.write(completed({ outcome: 'failed', answer: null }));
    const text = (await stream.all()).map(({ data }) => data ?? '').join('\n');
    expect(text).toContain('RUN_FAILED');
    expect(text).not.toMatch(/\[DONE\]|message_stop|response\.completed/);
  });
});
