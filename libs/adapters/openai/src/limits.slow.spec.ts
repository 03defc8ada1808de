import type { Usage } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import { until, watchSignals } from '@conclave/test-support';
import { ask, bare, codeOf, failureOf, open, scripted, watch } from './__fixtures__/servers.js';
import type { ProviderConfig } from './configuration.js';

describe('an aborted call', () => {
  it.each(['hang', 'stall'] as const)('closes the connection of a server that %ss, at once', async (how) => {
    const server = await scripted({ match: 'hello', reply: how === 'hang' ? { hang: true } : { stallAfter: [{ text: 'a' }] } });
    const leaving = new AbortController();
    const call = codeOf(open(server.url).call(ask(), watch({ signal: leaving.signal })));
    await until('the call', () => server.calls.length === 1);
    const at = Date.now();
    leaving.abort();
    expect(await call).toBe('CALL_CANCELLED');
    const abortedAt = await until('the abort', () => server.calls[0]!.abortedAt);
    // The call itself may take minutes. A busy machine needs more than half a second to close the connection.
    expect(abortedAt - at).toBeLessThan(2_500);
  });

  it.each(['aborted', 'timed out'])('is charged with its prompt if it was %s before its reply began', async (how) => {
    const server = await scripted({ match: 'hello', reply: { hang: true } });
    const leaving = new AbortController();
    const models = open(server.url, {}, { models: { 'm@p': { price: { input: 2, output: 10 } } } });
    const timeoutMs = how === 'aborted' ? 60_000 : 1_000;
    const failed = failureOf(models.call(ask('hello '.repeat(400), { timeoutMs }), watch({ signal: leaving.signal })));
    await until('the call', () => server.calls.length === 1);
    if (how === 'aborted') leaving.abort();
    const { usage } = (await failed).options.context as { usage: Usage };
    expect(usage).toMatchObject({ calls: 1, completion: 0, estimated: true });
    expect(usage.prompt).toBeGreaterThanOrEqual(600);
    expect(usage.cost).toBeCloseTo((usage.prompt * 2) / 1_000_000);
  });

  it('is not sent when it was aborted before, and not repeated when it is aborted during back-off', async () => {
    const server = await scripted({ match: 'hello', reply: { status: 503 } });
    expect(await codeOf(open(server.url).call(ask(), watch({ signal: AbortSignal.abort() })))).toBe('CALL_CANCELLED');
    server.expectCalls(0);
    const leaving = new AbortController();
    const models = open(server.url, {}, { retry: { base_ms: 60_000, cap_ms: 60_000 } });
    const code = codeOf(
      models.call(
        ask('hello', { timeoutMs: 600_000 }),
        watch({ signal: leaving.signal, onRetry: () => setImmediate(() => leaving.abort()) }),
      ),
    );
    expect(await code).toBe('CALL_CANCELLED');
    server.expectCalls(1);
  });

  it('is the outcome of a running call after close', async () => {
    const server = await scripted({ match: 'hello', reply: { hang: true } });
    const models = open(server.url);
    const code = codeOf(models.call(ask(), watch()));
    await until('the call', () => server.calls.length === 1);
    await models.close();
    expect(await code).toBe('CALL_CANCELLED');
  });
});

describe('many calls at a time', () => {
  it('do not exceed the listeners of a signal, and remove their listeners', async () => {
    const signals = watchSignals();
    try {
      const server = await scripted({ match: 'hello', reply: { hang: true }, times: 30 });
      const models = open(server.url, { max_concurrency: 30 });
      const calls = Array.from({ length: 30 }, () => codeOf(models.call(ask(), watch())));
      await until('all calls', () => server.calls.length === 30);
      expect(signals.crowded()).toBe(0);
      await models.close();
      expect(new Set(await Promise.all(calls))).toEqual(new Set(['CALL_CANCELLED']));
    } finally {
      signals.stop();
    }
  });
});

describe('time', () => {
  it('bounds the whole call', async () => {
    const server = await scripted({ match: 'hello', reply: { stallAfter: [{ text: 'a' }] } });
    expect(await codeOf(open(server.url).call(ask('hello', { timeoutMs: 60 }), watch()))).toBe('CALL_TIMEOUT');
    // On a busy machine the call may be over before its request is sent.
    await until('the abort', () => server.calls.every(({ abortedAt }) => abortedAt !== null));
  });
  it('bounds the wait for the first text of a server that is not local', async () => {
    // Two questions: the first call may be over before its request has reached the server, whose reply would then be left for the second.
    const server = await scripted(
      { match: 'remote', reply: { stallAfter: [] } },
      { match: 'local', reply: { chunks: [{ text: 'hi', afterMs: 80 }] } },
    );
    const timeouts = { first_token_ms: 40 };
    expect((await failureOf(open(server.url, {}, { timeouts }).call(ask('remote'), watch()))).message).toContain(
      'sent nothing for 0 s, the limit of `first_token_s`',
    );
    expect((await open(server.url, { local: true }, { timeouts }).call(ask('local'), watch())).content).toBe('hi');
  });
  it('bounds silence in the middle of an answer', async () => {
    const server = await scripted({ match: 'hello', reply: { stallAfter: [{ text: 'a' }] } });
    expect((await failureOf(open(server.url, {}, { timeouts: { idle_ms: 40 } }).call(ask(), watch()))).message).toContain('was silent');
  });
});

describe('a model that thinks for long', () => {
  const life = [
    ': still thinking',
    'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}',
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":null}]}',
    'data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"},"finish_reason":null}]}',
    ': keep-alive',
    'data: {"choices":[{"index":0,"delta":{"reasoning":"so"},"finish_reason":null}]}',
    ': keep-alive',
    'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}',
  ];
  const thinking = (everyMs: number): Promise<string> =>
    bare((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      let at = 0;
      const timer = setInterval(() => {
        response.write(`${life[at]!}\n\n`);
        at += 1;
        if (at < life.length) return;
        clearInterval(timer);
        response.end();
      }, everyMs);
      response.once('close', () => clearInterval(timer));
    });

  it('is kept alive by any data: thinking, a role, an empty chunk, a comment', async () => {
    // Eight pieces take longer than each limit, so that a piece that did not count would end the call; between two of them a busy machine
    // has two seconds.
    const reply = await open(await thinking(330), {}, { timeouts: { first_token_ms: 2_300, idle_ms: 2_300 } }).call(ask(), watch());
    expect(reply).toMatchObject({ content: 'hi', reasoning: 'hmso' });
  });

  it('has its own limits, or those of its provider', async () => {
    const url = await thinking(60);
    const timeouts = { first_token_ms: 20, idle_ms: 20 };
    const mine = { first_token_ms: 5_000, idle_ms: 5_000 };
    expect(await codeOf(open(url, {}, { timeouts }).call(ask(), watch()))).toBe('CALL_TIMEOUT');
    expect((await open(url, mine, { timeouts }).call(ask(), watch())).content).toBe('hi');
    expect((await open(url, timeouts, { models: { 'm@p': mine } }).call(ask(), watch())).content).toBe('hi');
    expect(await codeOf(open(url, { ...mine, local: true }, { models: { 'm@p': timeouts } }).call(ask(), watch()))).toBe('CALL_TIMEOUT');
  });
});

describe('a stream', () => {
  const usage = '"usage":{"prompt_tokens":3,"completion_tokens":1}';
  const stream = (...data: readonly string[]): Promise<string> =>
    bare((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(data.map((one) => `data: ${one}\n\n`).join(''));
    });
  const half = `{"choices":[{"index":0,"delta":{"content":"half"},"finish_reason":null}],${usage}}`;

  it('that stops without its end marker is broken, also when every chunk held usage', async () => {
    expect(await codeOf(open(await stream(half, half)).call(ask(), watch()))).toBe('PROVIDER_STREAM_BROKEN');
    expect(await codeOf(open(await stream(half, `{"choices":[],${usage}}`)).call(ask(), watch()))).toBe('PROVIDER_STREAM_BROKEN');
  });

  it('is complete with its last line, also without a finish reason', async () => {
    expect(await open(await stream(half, '[DONE]')).call(ask(), watch())).toMatchObject({ content: 'half', finishReason: 'unknown' });
  });
});

describe('calls at the same time', () => {
  it('are limited to one for a local server, and to the configured number otherwise', async () => {
    const most = async (rest: Partial<ProviderConfig>): Promise<number> => {
      let running = 0;
      let peak = 0;
      const url = await bare((_request, response) => {
        peak = Math.max(peak, (running += 1));
        setTimeout(() => {
          running -= 1;
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] }));
        }, 15);
      });
      const models = open(url, rest);
      await Promise.all(Array.from({ length: 6 }, () => models.call(ask(), watch())));
      return peak;
    };
    expect(await most({ local: true })).toBe(1);
    expect(await most({ max_concurrency: 3 })).toBe(3);
  });
});
