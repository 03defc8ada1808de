import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { until } from '@conclave/test-support';
import { SseClient } from '../__fixtures__/sse-client.js';
import { completed, World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const key = { 'idempotency-key': 'once' };
const answer = 'The second attempt is whole.';
const open = async (headers: Record<string, string> = key): Promise<SseClient> => new SseClient(await world.chat({}, { headers }));
/** The first attempt dies in the middle of the text sent to the client, and the second begins. */
async function dies(client: SseClient): Promise<void> {
  world.compose();
  await world.chunk('Words of the first', 0);
  await until('the first words', () => client.content === 'Words of the first');
  await world.chunk('The second ', 0, 2);
  await client.all();
}
async function ends(): Promise<void> {
  await world.chunk('attempt is whole.', 11, 2);
  world.write(completed({ answer }));
}
const attached = (clients: number) => until('the retry', () => world.stores.clients(world.run()).size === clients);

describe('a chat stream whose attempt dies after its text was shown', () => {
  it('ends with an error that says how to follow the new attempt, and sends nothing after it', async () => {
    const client = await open();
    await dies(client);
    expect(client.failure).toMatchObject({ code: 'ANSWER_SUPERSEDED', type: 'server_error', param: null });
    expect(client.failure!.message).toContain('same Idempotency-Key');
    expect(client.failure!.message).toContain(`/v1/runs/${world.run()}/events`);
    expect(client.events.at(-1)!.data).toMatch(/^\{"error"/);
    expect(client.events.some(({ data }) => data === '[DONE]')).toBe(false);
    expect(client.chunks.some(({ choices }) => choices[0]?.finish_reason)).toBe(false);
    expect([client.error, client.tail, client.content]).toEqual([null, '', 'Words of the first']);
    expect(world.stores.flagged.size).toBe(0);
  });

  it.each([
    ['its Idempotency-Key', key, key],
    ['the retry count of an SDK', {}, { 'x-stainless-retry-count': '1' }],
  ])('lets the retry with %s follow the new attempt of the same run', async (_, first, again) => {
    await dies(await open(first as Record<string, string>));
    const retry = await open(again as Record<string, string>);
    await attached(1);
    await ends();
    await retry.all();
    expect([retry.content, retry.failure]).toEqual([answer, null]);
    expect(retry.events.at(-1)!.data).toBe('[DONE]');
    expect([world.runs().length, world.requested().length, world.commands().length]).toEqual([1, 1, 0]);
  });

  it('shows only the new attempt to a retry that arrives before the death is known', async () => {
    const client = await open();
    world.compose();
    await world.chunk('Words of the first', 0);
    await until('the first words', () => client.content !== '');
    const retry = await open();
    await attached(2);
    await world.chunk('The second ', 0, 2);
    await client.all();
    expect(client.failure?.code).toBe('ANSWER_SUPERSEDED');
    await ends();
    await retry.all();
    expect([retry.content, retry.failure]).toEqual([answer, null]);
  });

  it('shows both attempts and the mark between them to clients that follow the events of the run', async () => {
    await dies(await open());
    await ends();
    const events = new SseClient(await fetch(`${world.url}/v1/runs/${world.run()}/events`));
    const entries = (await events.all()).map(({ data }) => JSON.parse(data!));
    expect(entries.map(({ kind, attempt }) => `${kind} ${attempt ?? ''}`.trim())).toEqual([
      'composing',
      'chunk 1',
      'superseded 2',
      'chunk 2',
      'chunk 2',
      'run.completed',
    ]);
    expect(entries[2]).toMatchObject({ discarded: 'Words of the first'.length });
  });
});

describe('a client that was sent no text of the attempt that died', () => {
  it('gets the new attempt as if nothing had happened', async () => {
    const client = await open();
    world.write({ kind: 'planning', epoch: 0, iteration: 0, max: 3 });
    world.compose();
    world.write({ kind: 'superseded', taskId: `${world.run()}/0/judge.synthesis`, attempt: 2, discarded: 0 });
    await world.chunk('The second ', 0, 2);
    await ends();
    await client.all();
    expect([client.content, client.failure]).toEqual([answer, null]);
    expect(client.chunks.filter(({ choices }) => choices[0]?.finish_reason)).toHaveLength(1);
    expect(client.events.at(-1)!.data).toBe('[DONE]');
  });

  it('gets the answer when its text was held back', async () => {
    const client = await open();
    world.compose('held');
    await world.chunk('Words of the first', 0);
    await world.chunk('The second ', 0, 2);
    await ends();
    await client.all();
    expect([client.content, client.failure]).toEqual([answer, null]);
  });

  it('gets the answer when it waits for the whole answer', async () => {
    const waiting = world.chat({ stream: false }, { headers: key });
    await until('the run', () => world.requested().length === 1);
    world.compose();
    await world.chunk('Words of the first', 0);
    await world.chunk('The second ', 0, 2);
    await ends();
    const response = await waiting;
    expect(response.status).toBe(200);
    expect(((await response.json()) as OpenAI.ChatCompletion).choices[0]!.message.content).toBe(answer);
  });
});

describe('the OpenAI client whose stream is superseded', () => {
  const question = { model: 'conclave', messages: [{ role: 'user' as const, content: 'Why is the sky blue?' }] };
  let requests = 0;
  let client: OpenAI;
  beforeEach(() => {
    requests = 0;
    const counting: typeof fetch = (input, init) => {
      requests += 1;
      return fetch(input, init);
    };
    client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: 'sk-test', maxRetries: 2, fetch: counting });
  });
  async function firstAttempt(): Promise<void> {
    await until('the run', () => world.requested().length === 1);
    world.compose();
    await world.chunk('Words of the first', 0);
  }

  it('throws the error of the stream, does not retry by itself, and reads the new attempt on the next request', async () => {
    const stream = await client.chat.completions.create({ ...question, stream: true }, { headers: key });
    await firstAttempt();
    let shown = '';
    const reading = (async () => {
      for await (const chunk of stream) shown += chunk.choices[0]?.delta.content ?? '';
    })();
    const thrown = expect(reading).rejects.toMatchObject({
      code: 'ANSWER_SUPERSEDED',
      message: expect.stringContaining('Idempotency-Key'),
    });
    await until('the first words', () => shown === 'Words of the first');
    await world.chunk('The second ', 0, 2);
    await thrown;
    expect([shown, requests]).toEqual(['Words of the first', 1]);
    const again = client.chat.completions.stream(question, { headers: key });
    await attached(1);
    await ends();
    expect((await again.finalChatCompletion()).choices[0]!.message.content).toBe(answer);
    expect([world.runs().length, requests]).toEqual([1, 2]);
  });

  it('rejects in its stream helper too', async () => {
    const runner = client.chat.completions.stream(question, { headers: key });
    const thrown = expect(runner.finalContent()).rejects.toMatchObject({ code: 'ANSWER_SUPERSEDED' });
    let shown = '';
    runner.on('content', (delta) => (shown += delta));
    await firstAttempt();
    await until('the first words', () => shown !== '');
    await world.chunk('The second ', 0, 2);
    await thrown;
    expect(requests).toBe(1);
    world.write(completed({ answer }));
  });
});
