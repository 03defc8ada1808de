import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '@conclave/ports';
import { bare, failureOf, open, watch } from './__fixtures__/servers.js';

const chunk = (delta: unknown, finish_reason: string | null = null, more: object = {}) => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
interface Piece {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}
interface Delta {
  readonly content?: unknown;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly Piece[];
}

/** What a client gets of a stream: its chunks, and what a library makes of them. */
async function streamed(chunks: readonly object[], options: object = {}, closes = true) {
  const url = await bare((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write([...chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`), 'data: [DONE]\n\n'].join(''));
    if (closes) response.end();
  });
  const got: JsonObject[] = [];
  const body = { model: 'x', messages: [{ role: 'user', content: 'hello' }], stream: true, ...options };
  const request = { model: 'm@p', body, timeoutMs: 5_000 };
  const reply = await open(url, {}, { timeouts: { usage_ms: 50 } }).pass(request, { ...watch(), onChunk: (one) => void got.push(one) });
  const choices = got.flatMap((one) => one['choices'] as { delta: Delta; finish_reason: string | null }[]);
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const { index, id, function: called } of choices.flatMap(({ delta }) => delta.tool_calls ?? [])) {
    const call = (calls[index] ??= { id: '', name: '', arguments: '' });
    call.id += id ?? '';
    call.name += called?.name ?? '';
    call.arguments += called?.arguments ?? '';
  }
  return {
    ...{ reply, got, calls, ends: choices.flatMap(({ finish_reason: end }) => (end === null ? [] : [end])) },
    content: choices.map(({ delta }) => delta.content ?? '').join(''),
    thinking: choices.map(({ delta }) => delta.reasoning_content ?? '').join(''),
  };
}

async function whole(message: object, finish_reason: string | null): Promise<JsonObject> {
  const url = await bare((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }] }));
  });
  const { body } = await open(url).pass({ model: 'm@p', body: { model: 'x', messages: [] }, timeoutMs: 5_000 }, watch());
  return (body!['choices'] as JsonObject[])[0]!;
}

describe('calls of tools that a client gets from a model server', () => {
  const call = (id: string | undefined, name: string, args: unknown, index?: number) => ({
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    function: { name, arguments: args },
  });
  const made = (...ids: unknown[]) => ids.map((id, at) => ({ id, name: 'weather', arguments: `{"town":"${at}"}` }));
  const town = (at: number) => `{"town":"${at}"}`;

  it.each([
    [
      'Mistral: without index and type',
      [chunk({ tool_calls: [call('a', 'weather', town(0)), call('b', 'weather', town(1))] }, 'tool_calls')],
    ],
    [
      'several at index 0',
      [chunk({ tool_calls: [call('a', 'weather', town(0), 0)] }), chunk({ tool_calls: [call('b', 'weather', town(1), 0)] })],
    ],
    [
      'from index 1 on',
      [
        chunk({ tool_calls: [call('a', 'weather', '', 1)] }),
        chunk({ tool_calls: [{ index: 1, function: { arguments: town(0) } }] }),
        chunk({ tool_calls: [call('b', 'weather', town(1), 2)] }),
      ],
    ],
    [
      'id and name in each piece',
      [
        ...['{"town":', '"0"}'].map((piece) => chunk({ tool_calls: [call('a', 'weather', piece, 0)] })),
        chunk({ tool_calls: [call('b', 'weather', town(1), 1)] }),
      ],
    ],
    ['arguments as an object', [chunk({ tool_calls: [call('a', 'weather', { town: '0' }, 0), call('b', 'weather', { town: '1' }, 1)] })]],
  ])('are whole for its library: %s', async (_name, chunks) => {
    const { calls, ends, got } = await streamed([...chunks, chunk({}, 'stop')]);
    expect(calls).toEqual(made('a', 'b'));
    expect(ends.at(0)).toBe('tool_calls');
    expect(JSON.stringify(got)).toContain('"type":"function"');
  });

  it('get an id and the end of OpenAI: streams of Gemini have no index, an empty id and pieces, and end with stop', async () => {
    const thought = { extra_content: { google: { thought_signature: 'x' } } };
    const { calls, ends, got } = await streamed([
      chunk({ tool_calls: [{ ...call('', 'weather', '{"town":'), type: 'function' }] }),
      chunk({ tool_calls: [{ function: { arguments: '"0"}' } }] }),
      chunk({ tool_calls: [thought] }),
      chunk({ tool_calls: [{ ...call('', 'weather', town(1)), type: 'function' }] }),
      chunk({ role: 'assistant' }, 'stop'),
    ]);
    const id: unknown = expect.stringMatching(/^call_[0-9a-f]{32}$/);
    expect(calls).toEqual(made(expect.stringMatching(/^call_[0-9a-f]{32}__signed_[\w-]+$/), id));
    expect(new Set(calls.map((one) => one.id)).size).toBe(2);
    expect(ends).toEqual(['tool_calls']);
    expect(JSON.stringify(got)).toContain('thought_signature');
  });

  it('without an index are whole at the end of a stream, even if the server gives no reason and keeps the connection open', async () => {
    const { calls, ends } = await streamed([chunk({ tool_calls: [call('a', 'weather', town(0))] })], {}, false);
    expect([calls, ends]).toEqual([made('a'), ['tool_calls']]);
  });

  it('of a whole reply have an id, a type, and arguments as text', async () => {
    const choice = await whole({ content: null, tool_calls: [call('', 'weather', { town: '0' })] }, 'stop');
    const id: unknown = expect.stringMatching(/^call_/);
    const shown = { id, type: 'function', function: { name: 'weather', arguments: town(0) } };
    expect(choice).toMatchObject({ message: { content: null, tool_calls: [shown] }, finish_reason: 'tool_calls' });
  });
});

describe('the text that a client gets from a model server', () => {
  it.each([
    ['Mistral', { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }],
    ['Databricks', { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.', signature: 'x' }] }],
  ])('is text, and thinking beside it, where a server sends a list of parts: %s', async (_name, thought) => {
    const text = { type: 'text', text: 'Two rivers.' };
    const { content, thinking, reply } = await streamed([chunk({ content: [thought] }), chunk({ content: [text] }), chunk({}, 'stop')]);
    expect({ content, thinking }).toEqual({ content: 'Two rivers.', thinking: 'Hm.' });
    expect(reply).toMatchObject({ content: 'Two rivers.', reasoning: 'Hm.' });
    expect(await whole({ content: [thought, text] }, 'stop')).toMatchObject({
      message: { content: 'Two rivers.', reasoning_content: 'Hm.' },
    });
  });

  it('stays a list if it has an image in it', async () => {
    const content = [{ type: 'image_url', image_url: { url: 'data:' } }];
    expect(await whole({ content }, 'stop')).toMatchObject({ message: { content } });
  });

  it('is that of the assistant, although the first chunk does not say so, as in streams of Mistral, or a reply has no content, as of Groq', async () => {
    const { got } = await streamed([chunk({ content: 'hi' }), chunk({ content: '!' }), chunk({}, 'stop')]);
    const deltas = got.map((one) => (one['choices'] as JsonObject[])[0]!['delta']);
    expect(deltas).toEqual([{ role: 'assistant', content: 'hi' }, { content: '!' }, {}]);
    const calls = [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }];
    expect(await whole({ tool_calls: calls }, 'tool_calls')).toMatchObject({ message: { role: 'assistant', content: null } });
  });

  it('has a delta in each chunk: Azure sends filter results without one', async () => {
    const { got } = await streamed([chunk({ content: 'hi' }), chunk({}, 'stop'), { choices: [{ index: 0, content_filter_offsets: {} }] }]);
    expect(got.at(-1)).toMatchObject({ choices: [{ delta: {}, content_filter_offsets: {} }] });
  });
});

describe('the end that a client gets from a model server', () => {
  it.each([
    ['eos', 'stop'],
    ['COMPLETE', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['SAFETY', 'content_filter'],
    ['stop', 'stop'],
    ['new_reason', 'new_reason'],
    ['', 'stop'],
  ])('is written as by OpenAI: %s is %s', async (reason, expected) => {
    expect((await streamed([chunk({ content: 'hi' }), chunk({}, reason)])).ends).toEqual([expected]);
    expect(await whole({ content: 'hi' }, reason)).toMatchObject({ finish_reason: expected });
  });

  it.each([
    ['with the client', { stream_options: { include_usage: true } }, 1],
    ['only with us', {}, 0],
  ])('comes once where a server repeats it beside the usage, as TabbyAPI does, which stays %s', async (_name, options, usages) => {
    const usage = { prompt_tokens: 5, completion_tokens: 7 };
    const { ends, got, reply } = await streamed([chunk({ content: 'hi' }), chunk({}, 'stop'), chunk({}, 'stop', { usage })], options);
    expect(ends).toEqual(['stop']);
    expect(got.filter((one) => 'usage' in one)).toHaveLength(usages);
    expect(reply.usage).toMatchObject({ prompt: 5, completion: 7, estimated: false });
  });

  it.each(['insufficient_system_resource', 'abort'])('is an error if the server broke off with “%s”', async (reason) => {
    expect(await failureOf(streamed([chunk({ content: 'Two' }), chunk({}, reason)]))).toMatchObject({
      detail: expect.stringContaining(reason),
    });
  });
});
