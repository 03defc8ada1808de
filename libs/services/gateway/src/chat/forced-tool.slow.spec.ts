import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { until } from '@conclave/test-support';
import OpenAI from 'openai';
import { completed, reply, World } from '../__fixtures__/world.js';

let world: World;
let client: OpenAI;
beforeEach(async () => {
  world = await World.open();
  client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
});
afterEach(() => world.close());

const parameters = { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] };
const tools = [{ type: 'function' as const, function: { name: 'place', description: 'A town.', parameters } }];
const choice = { type: 'function' as const, function: { name: 'place' } };
const question = { model: 'conclave', messages: [{ role: 'user' as const, content: 'Where is the minster?' }], tools, tool_choice: choice };
const args = '{"town":"Ulm"}';

/** Plays the engine for the n-th run. */
async function engine(answer = args, n = 0, over: Parameters<typeof completed>[0] = {}): Promise<void> {
  await until('the run', () => world.requested().length > n);
  world.stores.write(world.runs()[n]!, [completed({ answer, ...over })]);
}

describe('a function that must be called, on a template that ignores the tools of clients', () => {
  it('is called with the answer of a run, which gets its parameters as schema', async () => {
    const played = engine();
    const { choices, id } = await client.chat.completions.create(question);
    await played;
    const call = { id: `call_${id.slice('chatcmpl-'.length)}`, type: 'function', function: { name: 'place', arguments: args } };
    expect(choices).toMatchObject([{ finish_reason: 'tool_calls', message: { content: null, tool_calls: [call] } }]);
    expect(choices[0]!.message.annotations).toBeUndefined();
    expect(world.requested()[0]!.data.answer).toEqual({
      response_format: { type: 'json_schema', json_schema: { name: 'place', description: 'A town.', schema: parameters } },
    });
  });

  it('is streamed as one call, after the progress', async () => {
    const stream = client.chat.completions.stream({ ...question, tool_choice: 'required', stream_options: { include_usage: true } });
    await until('the run', () => world.runs().length === 1);
    world.stores.write(world.run(), [{ kind: 'planning', epoch: 0, iteration: 0, max: 3 }]);
    await engine();
    const final = await stream.finalChatCompletion();
    expect(final).toMatchObject({
      choices: [{ finish_reason: 'tool_calls', message: { tool_calls: [{ function: { name: 'place', arguments: args } }] } }],
      usage: { total_tokens: 165 },
    });
    expect(final.choices[0]!.message.content ?? '').toBe('');
  });

  it('gets arguments that match its parameters, repaired by one call if necessary', async () => {
    world.models.next(async () => reply({ content: args }));
    const played = engine('The town is Ulm.');
    const { choices } = await client.chat.completions.create(question);
    await played;
    expect(choices[0]!.message.tool_calls).toMatchObject([{ function: { arguments: args } }]);
    expect(world.models.calls).toHaveLength(1);
  });

  it('is called in the other APIs too', async () => {
    const named = { type: 'function' as const, name: 'place' };
    const played = [engine(args, 0), engine(args, 1), engine(args, 2)];
    const asked = { model: 'conclave', input: 'Where?', tools: [{ ...named, parameters, strict: true }], tool_choice: named };
    const response = await client.responses.create(asked);
    expect(response.output).toMatchObject([{ type: 'function_call', name: 'place', arguments: args, status: 'completed' }]);
    const streamed = await client.responses.stream(asked).finalResponse();
    expect(streamed.output).toMatchObject([{ type: 'function_call', name: 'place', arguments: args }]);
    for (const { id, output } of [response, streamed]) {
      const [item] = output as OpenAI.Responses.ResponseFunctionToolCall[];
      const call = { type: 'function_call', id: item!.id, call_id: item!.call_id, arguments: args };
      expect((await client.responses.retrieve(id)).output).toMatchObject([call]);
    }
    const message = await new Anthropic({ baseURL: world.url, apiKey: 'sk-test', maxRetries: 0 }).messages.create({
      ...{ model: 'conclave', max_tokens: 100, messages: question.messages },
      tools: [{ name: 'place', input_schema: { ...parameters, type: 'object' } }],
      tool_choice: { type: 'tool', name: 'place' },
    });
    expect(message).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'tool_use', name: 'place', input: { town: 'Ulm' } }] });
    await Promise.all(played);
  });

  it('is not called with a question of the run to its user', async () => {
    const answer = client.chat.completions.create(question);
    await until('the run', () => world.requested().length === 1);
    world.stores.write(world.run(), [{ kind: 'question.asked', question: 'Which minster?', deadline: Date.now() + 60_000 }]);
    expect((await answer).choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Which minster?' } });
  });

  it.each<[string, object, string, RegExp]>([
    [
      'is one of several',
      { tools: [...tools, { type: 'function', function: { name: 'other', parameters } }], tool_choice: 'required' },
      'tool_choice',
      /none can be required/,
    ],
    ['is unknown', { tool_choice: { type: 'function', function: { name: 'other' } } }, 'tool_choice', /none can be required/],
    ['takes no object', { tools: [{ type: 'function', function: { name: 'place' } }] }, 'tool_choice', /none can be required/],
    [
      'has parameters that are no schema',
      {
        tools: [{ type: 'function', function: { name: 'place', parameters: { type: 'object', properties: { town: { type: 'towns' } } } } }],
      },
      'tools',
      /`tools` has the type "towns"/,
    ],
  ])('is refused if it %s', async (_, over, param, sentence) => {
    const refused = client.chat.completions.create({ ...question, ...over } as typeof question);
    await expect(refused).rejects.toMatchObject({ status: 400, param, message: expect.stringMatching(sentence) });
    expect(world.runs()).toEqual([]);
  });
});
