import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { parkedFlag, stopHint } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { completed, World } from '../__fixtures__/world.js';

let world: World;
let client: OpenAI;
beforeEach(async () => {
  world = await World.open();
  client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: 'sk-test', maxRetries: 1 });
});
afterEach(() => world.close());

const question = { model: 'conclave', messages: [{ role: 'user' as const, content: 'Why is the sky blue?' }] };

/** Plays the engine for the next run: progress, live text, heartbeats between them, the end. */
async function engine(): Promise<void> {
  await until('the run', () => world.requested().length > 0);
  world.write({ kind: 'planning', epoch: 0, iteration: 0, max: 3 }, { kind: 'replanning', iteration: 1, max: 3, gap: 'the year' });
  world.compose();
  await world.chunk('It is ', 0);
  await world.chunk('blue', 6);
  world.write(completed());
}

describe('the OpenAI client', () => {
  it('reads a stream chunk by chunk', async () => {
    const played = engine();
    const stream = await client.chat.completions.create({ ...question, stream: true, stream_options: { include_usage: true } });
    let content = '';
    let reasoning = '';
    let finish: string | null = null;
    let total = 0;
    for await (const chunk of stream) {
      content += chunk.choices[0]?.delta.content ?? '';
      reasoning += (chunk.choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
      total = chunk.usage?.total_tokens ?? total;
    }
    await played;
    expect({ content, finish, total }).toEqual({ content: 'It is blue [1].', finish: 'stop', total: 165 });
    expect(reasoning).toContain('🔄 Agentic Loop — Iteration 1/3');
  });

  it('reads a stream with its helper, through heartbeats, sources and usage', async () => {
    await world.close();
    world = await World.open({ limits: { firstHeartbeatMs: 5, heartbeatMs: 5 } });
    client = new OpenAI({ baseURL: `${world.url}/v1/`, apiKey: 'sk-test' });
    const stream = client.chat.completions.stream({ ...question, stream_options: { include_usage: true } });
    await engine();
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'It is blue [1].', annotations: [{ type: 'url_citation' }] },
    });
    expect(final.usage).toMatchObject({ prompt_tokens: 120, completion_tokens: 45, total_tokens: 165 });
  });

  it.each(['think', 'status', 'none'] as const)('reads the progress mode %s with its helper', async (progress) => {
    const stream = client.chat.completions.stream(question, { headers: { 'x-conclave-progress': progress } });
    await engine();
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]!.message.content).toMatch(
      progress === 'think' ? /^<think>[^<]+<\/think>\n\nIt is blue \[1\]\.$/ : /^It is blue \[1\]\.$/,
    );
  });

  it('reads a whole answer and its request id', async () => {
    const played = engine();
    const { data, request_id: requestId } = await client.chat.completions.create(question).withResponse();
    await played;
    expect(data.choices[0]!.message.content).toBe('It is blue [1].');
    expect(requestId).toMatch(/^req_/);
  });

  it('throws on an error in the stream', async () => {
    const stream = await client.chat.completions.create({ ...question, stream: true });
    await until('the run', () => world.runs().length === 1);
    world.write(
      completed({
        outcome: 'failed',
        answer: null,
        failure: { code: 'PROVIDER_UNREACHABLE', message: 'No model answered.', retriable: true },
      }),
    );
    await expect(async () => {
      for await (const _ of stream);
    }).rejects.toThrow('No model answered.');
  });

  it('throws the matching error class for unknown models and invalid requests', async () => {
    await expect(client.chat.completions.create({ ...question, model: 'nobody' })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(client.chat.completions.create({ ...question, n: 2 })).rejects.toMatchObject({
      status: 400,
      param: 'n',
      code: 'REQUEST_INVALID',
    });
  });

  it('does not retry a failed question by itself', async () => {
    const pending = client.chat.completions.create(question);
    await until('the run', () => world.runs().length === 1);
    world.write(completed({ outcome: 'failed', answer: null }));
    await expect(pending).rejects.toMatchObject({ status: 502 });
    expect(world.runs()).toHaveLength(1);
  });

  it('attaches to its run on another gateway when its own gateway shuts down', async () => {
    const other = await World.open({ share: world });
    try {
      const tried: string[] = [];
      // Like a load balancer: the second try goes to the remaining gateway.
      const balanced: typeof fetch = (input, init) => {
        tried.push(String(input));
        return fetch(tried.length === 1 ? input : String(input).replace(world.url, other.url), init);
      };
      client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: 'sk-test', maxRetries: 1, fetch: balanced });
      const pending = client.chat.completions.create(question);
      await until('the client', () => world.stores.clients(world.runs()[0] ?? '').size === 1);
      await world.app.close();
      await until('the second try', () => other.metric('onAttached').length === 1);
      world.write(completed());
      expect((await pending).choices[0]!.message.content).toBe('It is blue [1].');
      expect(world.runs()).toHaveLength(1);
      expect(tried).toHaveLength(2);
    } finally {
      await other.close();
    }
  });

  it('parks its run and ends its calls when it aborts, because its SDK may send the request again', async () => {
    const stream = client.chat.completions.stream(question);
    stream.on('error', () => undefined);
    stream.on('abort', () => undefined);
    const told: string[] = [];
    await world.stores.state.hints.subscribe('cancel', (id) => void told.push(id));
    await until('the event', () => world.requested().length === 1);
    await until('the client', () => world.stores.clients(world.run()).size === 1);
    stream.abort();
    await until('the parked run', () => world.stores.flagged.has(parkedFlag(world.run())), { timeoutMs: 1_000 });
    await until('the hint', () => told.length > 0, { timeoutMs: 1_000 });
    expect([told, world.stores.flagged.has(world.run())]).toEqual([[stopHint(world.run())], false]);
  });

  it('lists and finds models', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toContain('org/m:8b@fake');
    expect((await client.models.retrieve('org/m:8b@fake')).owned_by).toBe('fake');
  });
});
