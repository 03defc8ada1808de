import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { SseClient } from '../__fixtures__/sse-client.js';
import { completed, reply, World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const turns = [
  { role: 'user', content: 'Write a haiku about lighthouses.' },
  { role: 'assistant', content: 'A lone beam turns' },
];

describe('a request that begins its answer', () => {
  it('is one call of a model that writes the answers, with the request unchanged, and no run', async () => {
    world.models.next(() => Promise.resolve(reply({ content: ' over the sea' })));
    // The fields by which vLLM, DeepSeek and Mistral continue a message.
    const [question, begun] = turns;
    const body = { messages: [question, { ...begun, prefix: true }], continue_final_message: true, add_generation_prompt: false };
    const response = await world.chat({ stream: false, ...body });
    expect(await response.json()).toMatchObject({ model: 'm@fake', choices: [{ message: { content: ' over the sea' } }] });
    expect(world.models.calls.map(({ request }) => request.body)).toMatchObject([body]);
    expect(world.runs()).toEqual([]);
  });

  it.each([
    [
      'no message of a user, as for the greeting of a character',
      { messages: [{ role: 'system', content: 'You are a keeper.' }, turns[1]] },
    ],
    ['several answers', { messages: turns, n: 2 }],
  ])('may have %s', async (_, body) => {
    world.models.next(() => Promise.resolve(reply({ content: ' over the sea' })));
    expect((await world.chat({ stream: false, ...body })).status).toBe(200);
    expect(world.models.calls.map(({ request }) => request.body)).toMatchObject([body]);
  });

  it('is streamed, and may begin with thinking', async () => {
    world.models.next(() => Promise.resolve(reply({ content: 'Blue.' })));
    const client = new SseClient(await world.chat({ messages: [turns[0], { role: 'assistant', content: '<think>\nBriefly:' }] }));
    await client.all();
    expect([client.content, world.runs()]).toEqual(['Blue.', []]);
  });

  it('is one call in the other APIs that send turns', async () => {
    for (const [path, body] of [
      ['/v1/messages', { max_tokens: 50, messages: turns }],
      ['/v1/responses', { input: turns }],
    ] as const) {
      world.models.next(() => Promise.resolve(reply({ content: ' over the sea' })));
      const response = await world.post(path, { model: 'conclave', ...body });
      expect([path, response.status, await response.text()]).toEqual([path, 200, expect.stringContaining(' over the sea')]);
      expect(world.models.calls.at(-1)!.request.body['messages']).toMatchObject(turns);
    }
    expect(world.runs()).toEqual([]);
  });

  it.each([
    ['/v1/runs', { messages: turns }],
    ['/v1/responses', { input: turns, background: true }],
  ])('is refused where nobody waits for it: %s', async (path, body) => {
    const response = await world.post(path, { model: 'conclave', ...body });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('beginning of an answer') } },
    ]);
    expect(world.runs()).toEqual([]);
  });

  it.each([
    ['an empty message of the assistant', [turns[0], { role: 'assistant', content: ' ' }]],
    ['a call without its result', [turns[0], { role: 'assistant', content: null, tool_calls: [{ id: 'x' }] }]],
    ['an answer before the question', [...turns, { role: 'user', content: 'Why?' }]],
  ])('is not %s', async (_, messages) => {
    const answered = world.chat({ stream: false, messages });
    await until('the run', () => world.runs().length === 1);
    world.stores.write(world.run(), [completed({ answer: 'So.' })]);
    expect((await answered).status).toBe(200);
    expect(world.models.calls).toEqual([]);
  });
});
