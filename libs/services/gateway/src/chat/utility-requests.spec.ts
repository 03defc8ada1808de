import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { CallRecorded } from '@conclave/contracts';
import type { ModelInfo } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { SseClient } from '../__fixtures__/sse-client.js';
import { reply, template, World } from '../__fixtures__/world.js';
import type { ChatQuestion } from './chat-request.js';
import { readUtility, smallModel } from './utility-requests.js';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const title =
  '### Task:\nGenerate a title.\n### Output:\nJSON format: { "title": "your title" }\n### Chat History:\n<chat_history>\nUSER: Why is the sky blue?\nASSISTANT: Scattering.\n</chat_history>';
const asks = (content: string, over: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  world.chat({ stream: false, messages: [{ role: 'user', content }], ...over }, { headers });
const answerOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { choices: { message: { content: string } }[] }).choices[0]!.message.content;

describe('a request that a front end makes for itself', () => {
  it('is one model call without a run, and the answer is the JSON it asked for', async () => {
    world.models.next(() => Promise.resolve(reply({ content: '<think>hm</think>Sure: "Blue Sky"', reasoning: 'hm' })));
    const response = await asks(title, {
      tools: [{ type: 'function', function: { name: 'x' } }],
      max_tokens: 1000,
      metadata: { task: 'title' },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-conclave-utility')).toBe('m@fake');
    expect(JSON.parse(await answerOf(response))).toEqual({ title: 'Sure: "Blue Sky' });
    expect(world.models.calls.map(({ request }) => request.body)).toEqual([
      { messages: [{ role: 'user', content: title }], max_tokens: 1000, stream: false },
    ]);
    expect([world.runs(), world.requested()]).toEqual([[], []]);
    await until('the record', () => world.events('audit').length === 1);
    expect(world.events<CallRecorded>('audit')[0]!.data).toMatchObject({ purpose: 'utility', model: 'm@fake', usage: { calls: 1 } });
    expect(world.metric('onCall')).toMatchObject([[{ data: { purpose: 'utility', model: 'm@fake' } }]]);
  });

  it('streams when it asks for a stream', async () => {
    world.models.next(() => Promise.resolve(reply({ content: '```json\n{ "title": "Blue" }\n```' })));
    const client = new SseClient(await asks(title, { stream: true }));
    await client.all();
    expect(client.content).toBe('{"title":"Blue"}');
    expect(client.chunks[0]).toMatchObject({ model: 'conclave' });
  });

  it.each([
    ['title_generation', 1],
    ['', 0],
    ['{{TASK}}', 0],
  ])('may be marked by a header: %j', async (task, calls) => {
    world.models.next(() => Promise.resolve(reply()));
    const answered = asks('Name this chat.', {}, { 'x-conclave-task': task });
    await until('a call or a run', () => world.models.calls.length + world.runs().length === 1);
    expect(world.models.calls).toHaveLength(calls);
    if (calls === 1) expect(await answerOf(await answered)).toBe('Hello there');
    else {
      await world.close();
      await (await answered).text();
    }
  });

  it.each([
    [
      'system',
      [
        { role: 'system', content: 'You are a title generator. You output ONLY a thread title. Nothing else.' },
        { role: 'user', content: 'Generate a title for this conversation:\n' },
        { role: 'user', content: '"Why is the sky blue?"' },
      ],
    ],
    [
      'last message',
      [
        { role: 'user', content: 'Why is the sky blue?' },
        { role: 'assistant', content: 'Scattering.' },
        { role: 'user', content: 'Please generate a four to five word title summarizing our conversation without any lead-in.' },
      ],
    ],
  ])('may ask for the title of the chat before it in its %s', async (_where, messages) => {
    world.models.next(() => Promise.resolve(reply({ content: 'Blue sky' })));
    expect(await answerOf(await world.chat({ stream: false, messages }))).toBe('Blue sky');
    expect(world.models.calls[0]!.request.body['messages']).toEqual(messages);
    expect(world.runs()).toEqual([]);
  });

  it('is an ordinary question in the middle of a chat', async () => {
    const answered = world.chat({
      stream: false,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
        { role: 'user', content: title },
      ],
    });
    await until('the run', () => world.runs().length === 1);
    await world.close();
    await (await answered).text();
  });
});

describe('the small model', () => {
  const info = (ref: string, local: boolean): ModelInfo => ({
    ref,
    model: ref,
    provider: 'p',
    context: null,
    price: null,
    local,
    demo: false,
    kind: 'chat',
  });
  it("is the smallest of the template's and the local models, else the cheapest, else the first expert", () => {
    const own = (...t1: string[]) => ({
      ...template,
      experts: { general: { t1, prompt: 'x' } },
      judge: { models: [t1[0]!] },
      planner: { models: [t1[0]!], prompt: null },
    });
    expect(smallModel(own('a:70b@p', 'b:8b@p'), [info('c:4b@ollama', true), info('d:1b@cloud', false)])).toBe('c:4b@ollama');
    const priced = { ...own('big@p', 'mini@p'), prices: { 'big@p': { input: 1, output: 9 }, 'mini@p': { input: 1, output: 2 } } };
    expect(smallModel(priced, [])).toBe('mini@p');
    expect(smallModel(own('big@p', 'mini@p'), [])).toBe('big@p');
  });
});

describe('a prompt without words of the user', () => {
  const turns = [
    { role: 'user', content: 'Why is the sky blue?' },
    { role: 'assistant', content: 'Scattering.' },
  ];
  // NextChat 2.16 for its summary of a chat, and SillyTavern for what it asks beside one.
  const summary = 'Summarize the discussion briefly in 200 words or less to use as a prompt for future context.';

  it.each([
    ['a system message behind the last answer', [...turns, { role: 'system', content: summary }]],
    [
      'the prompt of RAGFlow for a search, with a heading as user message',
      [
        {
          role: 'system',
          content: 'Generate a full user question that would follow the conversation.\n\n**Conversation:**\n\nUSER: And when?',
        },
        { role: 'user', content: 'Output: ' },
      ],
    ],
  ])('is one call without a run: %s', async (_, messages) => {
    world.models.next(() => Promise.resolve(reply()));
    expect(await answerOf(await world.chat({ stream: false, messages }))).toBe('Hello there');
    expect(world.models.calls.map(({ request }) => request.body)).toEqual([{ messages, stream: false }]);
    expect(world.runs()).toEqual([]);
  });

  it.each([
    [
      'a system message behind the question',
      [...turns, { role: 'user', content: 'And the sea?' }, { role: 'system', content: 'Be brief.' }],
      {},
    ],
    ['with tools', [...turns, { role: 'system', content: 'Go on.' }], { tools: [{ type: 'function', function: { name: 'x' } }] }],
  ])('is not %s', async (_, messages, over) => {
    void world.chat({ stream: false, messages, ...over });
    await until('a run', () => world.runs().length === 1);
    expect(world.models.calls).toEqual([]);
  });
});

it('reads the words of a first question once to see whether it asks for a title', () => {
  const matched = jest.spyOn(RegExp.prototype, 'test');
  try {
    const question = {
      system: null,
      goal: 'Why is the sky blue?',
      given: [],
      conversation: [],
      behindAnswer: null,
    } as unknown as ChatQuestion;
    expect(readUtility(question, {})).toBeNull();
    // The first pattern of `asksForTitle`.
    const ofTitle = matched.mock.calls.filter((_call, n) => (matched.mock.contexts[n] as RegExp).source.includes('nothing else'));
    expect(ofTitle.filter(([text]) => text === question.goal)).toHaveLength(1);
  } finally {
    matched.mockRestore();
  }
});
