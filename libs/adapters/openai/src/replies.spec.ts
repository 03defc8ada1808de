import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { imageTokens } from '@conclave/contracts';
import { ask, bare, failureOf, fixture, open, scripted, watch } from './__fixtures__/servers.js';

describe('a streamed reply', () => {
  it.each([
    ['openai', 'gpt-5-mini-2025-08-07', '', { prompt: 14, completion: 75, reasoning: 64 }],
    ['ollama', 'qwen3:8b', 'Count them.', { prompt: 21, completion: 9, reasoning: 3 }],
    ['llamacpp', 'qwen3-4b-q4_k_m.gguf', 'Count them.', { prompt: 17, completion: 8, reasoning: 3 }],
    ['vllm', 'Qwen/Qwen3-8B', 'Count them.', { prompt: 19, completion: 9, reasoning: 3 }],
  ])('of %s separates text, thinking, usage and finish reason', async (name, reportedModel, reasoning, usage) => {
    const text = fixture(`${name}-stream`);
    for (const size of [text.length, 7, 1]) {
      const url = await bare((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
        for (let at = 0; at < text.length; at += size) response.write(text.slice(at, at + size));
        response.end();
      });
      const seen = { content: '', reasoning: '' };
      const reply = await open(url).call(
        ask(),
        watch({ onDelta: (delta) => ((seen.content += delta.content ?? ''), (seen.reasoning += delta.reasoning ?? '')) }),
      );
      expect(reply).toMatchObject({ content: 'Two rivers.', reasoning, finishReason: 'stop', reportedModel });
      expect(reply.usage).toEqual({ calls: 1, cost: 0, estimated: false, ...usage });
      expect(seen).toEqual({ content: 'Two rivers.', reasoning });
      expect(reply.firstTokenMs).toBeGreaterThanOrEqual(0);
      expect(reply.durationMs).toBeGreaterThanOrEqual(reply.firstTokenMs!);
    }
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('is read although a proxy compressed it with %s', async (encoding, compress) => {
    const url = await bare((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding });
      response.end(compress(fixture('openai-stream')));
    });
    expect(await open(url).call(ask(), watch())).toMatchObject({ content: 'Two rivers.' });
    const failing = await bare((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json', 'content-encoding': encoding });
      response.end(compress(JSON.stringify({ error: { message: 'no such sampler' } })));
    });
    expect(await failureOf(open(failing).call(ask(), watch()))).toMatchObject({
      code: 'PROVIDER_REFUSED',
      detail: expect.stringContaining('no such sampler'),
    });
    const broken = await bare((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding });
      response.end(compress(fixture('openai-stream')).subarray(0, 40));
    });
    expect(await failureOf(open(broken).call(ask(), watch()))).toMatchObject({ code: 'PROVIDER_STREAM_BROKEN' });
  });

  it('separates <think> cut across chunks', async () => {
    const server = await scripted({
      match: 'hello',
      reply: { chunks: [{ text: '<th' }, { text: 'ink>hm</thi' }, { text: 'nk>\n\nyes' }] },
    });
    expect(await open(server.url).call(ask(), watch())).toMatchObject({ content: 'yes', reasoning: 'hm' });
  });

  it('of a model that begins in the middle of its thinking shows none of it from the second reply on', async () => {
    const thinks = { chunks: [{ text: 'First I ' }, { text: 'consider.\n</think>\n\n' }, { text: 'Two ' }, { text: 'rivers.' }] };
    const plain = { chunks: [{ text: 'Three ' }, { text: 'lakes.' }] };
    const server = await scripted(...[thinks, thinks, plain, plain].map((reply) => ({ match: 'hello', reply })));
    const models = open(server.url);
    const seen: string[] = [];
    const replies = [];
    for (const at of [0, 1, 2, 3]) {
      seen[at] = '';
      replies.push(await models.call(ask(), watch({ onDelta: ({ content = '' }) => void (seen[at] += content) })));
    }
    expect(replies.map(({ content }) => content)).toEqual(['Two rivers.', 'Two rivers.', 'Three lakes.', 'Three lakes.']);
    expect(replies.map(({ reasoning }) => reasoning.trim())).toEqual(['First I consider.', 'First I consider.', '', '']);
    expect(seen.slice(1)).toEqual(['Two rivers.', 'Three lakes.', 'Three lakes.']);
  });

  it('counts tokens if the server sends no usage, and prices them', async () => {
    const server = await scripted({ match: 'hello', reply: { text: 'one two three four', usage: null } });
    const reply = await open(server.url, {}, { models: { 'm@p': { price: { input: 1_000_000, output: 2_000_000 } } } }).call(
      ask(),
      watch(),
    );
    expect(reply.usage).toEqual({ calls: 1, prompt: 6, completion: 5, reasoning: 0, cost: 16, estimated: true });
  });

  it('requests a stream with usage, and sends the parameters and the key, but nothing that belongs to another account', async () => {
    const before = { ...process.env };
    Object.assign(process.env, { OPENAI_ORG_ID: 'org-other', OPENAI_CUSTOM_HEADERS: 'x-secret: 1' });
    try {
      const server = await scripted({ match: 'hello', reply: { text: 'hi' } });
      await open(server.url, { api_key: 'k-1' }).call(
        ask('hello', { temperature: 0, maxTokens: 9, stop: ['x'], seed: 4, topP: 0.5 }),
        watch(),
      );
      const { headers, body } = server.calls[0]!;
      expect(body).toEqual({
        model: 'm',
        messages: [{ role: 'user', content: 'hello' }],
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0,
        max_tokens: 9,
        stop: ['x'],
        seed: 4,
        top_p: 0.5,
      });
      expect(headers.authorization).toBe('Bearer k-1');
      expect(Object.keys(headers).filter((name) => /x-|openai/.test(name))).toEqual([]);
    } finally {
      for (const name of ['OPENAI_ORG_ID', 'OPENAI_CUSTOM_HEADERS']) if (before[name] === undefined) delete process.env[name];
    }
  });

  it('sends no authorization without a key', async () => {
    const server = await scripted({ match: 'hello', reply: { text: 'hi' } });
    await open(server.url).call(ask(), watch());
    expect(server.calls[0]!.headers.authorization).toBeUndefined();
  });

  it('is read whole from a server that answers a stream request with JSON', async () => {
    const url = await bare((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          choices: [{ message: { content: '<think>a</think>b' }, finish_reason: 'length' }],
          usage: { prompt_tokens: 1, completion_tokens: 2 },
        }),
      );
    });
    const deltas: unknown[] = [];
    const reply = await open(url).call(ask(), watch({ onDelta: (delta) => void deltas.push(delta) }));
    expect(reply).toMatchObject({
      content: 'b',
      reasoning: 'a',
      finishReason: 'length',
      usage: { prompt: 1, completion: 2, estimated: false },
    });
    expect(deltas).toEqual([{ reasoning: 'a' }, { content: 'b' }]);
  });

  it.each([
    ['without a blank line behind its last event', 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}'],
    ['as JSON that is called a stream', '{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}'],
  ])('is read %s', async (_name, text) => {
    const url = await bare((_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text));
    expect(await open(url).call(ask(), watch())).toMatchObject({ content: 'hi', finishReason: 'stop' });
  });

  it('is read although other events are between its own: keep-alive without data, pings, and what LocalAI says of its own tools', async () => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const beside = [
      'data:\n\n',
      'event: ping\ndata: {"type": "ping"}\n\n',
      'data: {"type":"mcp_tool_call","name":"search","arguments":"{}"}\n\n',
    ];
    const text = [...beside, chunk({ content: 'hi' }), ...beside, chunk({}, 'stop'), 'data: [DONE] \n\n'].join('');
    const url = await bare((_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text));
    expect(await open(url).call(ask(), watch())).toMatchObject({ content: 'hi', finishReason: 'stop' });
  });

  it('waits only for a limited time for the end of a stream that the server keeps open', async () => {
    const url = await bare((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n`);
    });
    const reply = await open(url, {}, { timeouts: { usage_ms: 50 } }).call(ask(), watch());
    expect(reply).toMatchObject({ content: 'hi', finishReason: 'stop', usage: { estimated: true } });
  });
});

describe('a message with an image', () => {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'iVBORw0KGgo'.repeat(40)}` } };
  const messages = [{ role: 'user' as const, content: 'hello', parts: [{ type: 'text', text: 'hello' }, image] }];

  it('is sent with its parts in place of its text', async () => {
    const server = await scripted({ match: 'hello', reply: { text: 'A dot.', usage: null } });
    const reply = await open(server.url).call(ask('', { messages }), watch());
    expect(server.calls[0]!.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'hello' }, image] }]);
    expect(reply.usage).toMatchObject({ estimated: true, prompt: expect.any(Number) });
    expect(reply.usage.prompt).toBeGreaterThan(imageTokens);
  });

  it('is not quoted by the failure of a server that repeats it', async () => {
    const message = `Invalid image: ${image.image_url.url.slice(0, 120)}`;
    const server = await scripted({ match: 'hello', reply: { status: 400, body: { error: { message } } } });
    const failure = await failureOf(open(server.url).call(ask('', { messages }), watch()));
    expect(failure.code).toBe('PROVIDER_REFUSED');
    expect(failure.message).not.toContain('iVBOR');
  });
});
