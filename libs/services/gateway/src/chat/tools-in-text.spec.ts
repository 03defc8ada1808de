import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ChatCompletionRequest } from '@conclave/contracts';
import { leastProcessorMs, until } from '@conclave/test-support';
import { completed, reply, World } from '../__fixtures__/world.js';
import { hasToolsInText, stepModels } from './tools-in-text.js';

/** Bodies as the frameworks sent them: LlamaIndex 0.14.25, CrewAI 1.15.30, smolagents 1.26.0, LangChain classic 1.0.8. */
const recorded = JSON.parse(readFileSync(new URL('../__fixtures__/agents-with-tools-in-text.json', import.meta.url), 'utf8')) as Record<
  string,
  Record<string, unknown>
>;
const isStep = (body: object): boolean => hasToolsInText(ChatCompletionRequest.parse({ model: 'conclave', ...body }));
const says = (content: string, over: object = {}): object => ({ messages: [{ role: 'user', content }], ...over });

describe('a step of an agent whose tools are described in words', () => {
  it.each(Object.keys(recorded))('is recognised from %s', (framework) => expect(isStep(recorded[framework]!)).toBe(true));

  it.each<[string, object]>([
    ['a question about the form', says('What do the labels Thought:, Action: and Observation: mean in ReAct?')],
    ['a log that somebody asks about', says('Thought: look it up\nAction: search\nObservation: nothing\n\nWhy did this agent fail?')],
    ['a field report', says('Observation: the river is 2 m above normal.\nWhat should the town do?')],
    ['a prompt with an open label but without steps', says('Observation: two birds\nQuestion: which?\nAnswer:')],
    ['a role play that ends before its user speaks', says('Hello.', { stop: ['\nUser:'] })],
    [
      'a system message about observations',
      {
        messages: [
          { role: 'system', content: 'Report on birds.\nObservation: what was seen.' },
          { role: 'user', content: 'Two swans.' },
        ],
      },
    ],
  ])('is not %s', (_, body) => expect(isStep(body)).toBe(false));

  it('is read in a time proportional to its length', () => {
    const hostile = [
      `${'\n'.repeat(90_000)}Observation`,
      '> '.repeat(90_000),
      ' '.repeat(190_000),
      `Observation:\nAction:\n${'a'.repeat(190_000)}`,
    ];
    const read = (): void => hostile.forEach((text) => isStep(says(text)));
    expect(leastProcessorMs(1_000, read)).toBeLessThan(1_000);
  });

  it('is asked of the model for tools, else of those that write the answers', () => {
    const judge = { models: ['big@a', 'big@b'] };
    expect(stepModels({ judge })).toEqual({ models: ['big@a', 'big@b'], use: 'fallback' });
    expect(stepModels({ judge, tool_model: 'tools@a' })).toBe('tools@a');
  });
});

describe('such a step on a template', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.open();
  });
  afterEach(() => world.close());

  it.each(Object.keys(recorded))('of %s is one call with the request unchanged, and no run', async (framework) => {
    const { model: _, ...body } = recorded[framework]!;
    const text = 'Thought: I need to look\nAction: lookup\nAction Input: {"name": "Northlight"}';
    world.models.next(() => Promise.resolve(reply({ content: text })));
    const response = await world.chat({ stream: false, ...body });
    expect(await response.json()).toMatchObject({ model: 'm@fake', choices: [{ message: { content: text } }] });
    expect(world.models.calls.map(({ request }) => request.body)).toMatchObject([body]);
    expect(world.runs()).toEqual([]);
  });
});

describe('a request without tools', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.open();
  });
  afterEach(() => world.close());

  /** LlamaIndex 0.14.25, for structured output of a model that it does not know to call functions. */
  const question = {
    messages: [{ role: 'user', content: 'Who founded Northlight? Output a valid JSON object.' }],
    tool_choice: 'required',
  };

  it.each([{}, { tools: [] }, { tools: null, parallel_tool_calls: false }])('may say that one must be called: %j', async (over) => {
    world.models.next(() => Promise.resolve(reply({ content: '{}' })));
    expect((await world.chat({ stream: false, model: 'm@fake', ...question, ...over })).status).toBe(200);
    const { body } = world.models.calls[0]!.request;
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
    expect(body).not.toHaveProperty('parallel_tool_calls');
    const byRun = world.chat({ stream: false, ...question, ...over });
    await until('the run', () => world.runs().length === 1);
    world.stores.write(world.run(), [completed({ answer: '{}' })]);
    expect((await byRun).status).toBe(200);
  });
});
