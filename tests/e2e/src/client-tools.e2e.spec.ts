// Tools of a client on a template: a model calls them through the client, or the run answers.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { CommitteeScript, inventedName, plainTemplate, readRun, System } from '@conclave/test-support/system';

const caches = { answer: false, semantic: false, plan: false, search: false };
const shared = { ...plainTemplate, strategy: 'single-pass', capabilities: [], caches } as const;
const answers = { general: { t1: ['m@fake'] } };

let system: System;
let client: OpenAI;
beforeAll(async () => {
  system = await System.start({
    gateways: 2,
    configuration: {
      templates: {
        asks: { ...shared, client_tools: 'ask_first', experts: answers },
        passes: { ...shared, client_tools: 'pass_through', experts: answers },
        ignores: { ...shared, experts: answers },
      },
    },
  });
  client = new OpenAI({ baseURL: `${system.url()}/v1`, apiKey: 'any', maxRetries: 0 });
});
afterAll(() => system?.stop());
afterEach(() => expect(system.models.violations()).toEqual([]));

const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather of a town',
      parameters: { type: 'object', properties: { town: { type: 'string' } } },
    },
  },
] as const satisfies OpenAI.ChatCompletionTool[];
const calls = [{ id: 'call_1', type: 'function' as const, function: { name: 'get_weather', arguments: '{"town":"Ulm"}' } }];
const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const completion = (message: object, finish: string): object => ({
  ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm' },
  ...{ choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }], usage },
});
const question = (): string => `How is the weather near ${inventedName()}?`;

/** The tool model's reply to the question, which it receives together with the tools. */
function toolModel(text: string, reply: object, afterTool = false): void {
  system.models.add({
    name: 'tool model',
    match: ({ body, messages }) =>
      Array.isArray(body['tools']) && messages.some(({ content }) => content === text) && (messages.at(-1)!.role === 'tool') === afterTool,
    reply: { status: 200, body: reply },
  });
}
const user = (content: string): OpenAI.ChatCompletionMessageParam => ({ role: 'user', content });
const runsOf = async (text: string): Promise<number> => {
  const { data } = (await (await fetch(`${system.url()}/v1/runs?limit=100`)).json()) as { data: { question: string }[] };
  return data.filter((run) => run.question === text).length;
};

/** The calls as the client receives them, with ids of the run. */
const callsOf = (runId: string, made: readonly (typeof calls)[number][] = calls) =>
  made.map((call, n) => ({ ...call, id: `call_${runId.slice('run_'.length)}_${n}` }));

describe('a template that asks first', () => {
  it('hands a call of the tool model to the client; its run waits', async () => {
    const text = question();
    toolModel(text, completion({ tool_calls: calls }, 'tool_calls'));
    const { data, response } = await client.chat.completions
      .create({ model: 'asks', messages: [user(text)], tools: [...tools] })
      .withResponse();
    const runId = response.headers.get('x-run-id')!;
    expect(data).toMatchObject({
      ...{ model: 'asks', usage },
      choices: [{ finish_reason: 'tool_calls', message: { content: null, tool_calls: callsOf(runId) } }],
    });
    const view = await readRun(system.url(), runId);
    expect(view).toMatchObject({ status: 'waiting', terminal: false, waitsFor: { question: expect.stringContaining('get_weather') } });
    expect(view.usage.items).toMatchObject([{ capability: 'tools', usage: { calls: 1 } }]);
  });

  it('streams the call with its index, its arguments and the finish reason', async () => {
    const text = question();
    toolModel(text, completion({ tool_calls: calls }, 'tool_calls'));
    const stream = client.chat.completions.stream({
      ...{ model: 'asks', messages: [user(text)], tools: [...tools], stream_options: { include_usage: true } },
    });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ id: expect.stringMatching(/^call_\w+_0$/), function: calls[0]!.function }] },
    });
    expect(await stream.totalUsage()).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 });
  });

  it('lets the committee answer when no tool is needed', async () => {
    const s = new CommitteeScript(system.models, question());
    toolModel(s.question, completion({ content: 'I need none.' }, 'stop'));
    s.plan([{ id: 'x1', task: 'Say it.', capability: 'expert.general', needs: [] }])
      .expert('It rains.')
      .answer(['It rains there.']);
    const { data, response } = await client.chat.completions
      .create({ model: 'asks', messages: [user(s.question)], tools: [...tools] })
      .withResponse();
    expect(data.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'It rains there.' } });
    expect((await readRun(system.url(), response.headers.get('x-run-id')!)).outcome).toBe('completed');
    expect(s.unused()).toEqual([]);
  });

  it('continues the run of the first turn with the results, on another gateway, without repeating any call', async () => {
    const s = new CommitteeScript(system.models, question());
    const both = [calls[0]!, { ...calls[0]!, id: 'call_2', function: { name: 'get_weather', arguments: '{"town":"Bonn"}' } }];
    toolModel(s.question, completion({ tool_calls: both }, 'tool_calls'));
    const first = await client.chat.completions.create({ model: 'asks', messages: [user(s.question)], tools: [...tools] }).withResponse();
    const runId = first.response.headers.get('x-run-id')!;
    s.plan([
      { id: 'x1', task: 'Say it of Ulm.', capability: 'expert.general', needs: [] },
      { id: 'x2', task: 'Say it of Bonn.', capability: 'expert.general', needs: [] },
    ])
      .expert('It snows in Ulm.')
      .expert('It rains in Bonn.')
      .answer(['Snow and rain.']);
    const [ulm, bonn] = [`${inventedName()} degrees and snow`, `${inventedName()} degrees and rain`];
    const asked = system.models.calls.length;
    const second = await new OpenAI({ baseURL: `${system.url(2)}/v1`, apiKey: 'any', maxRetries: 0 }).chat.completions
      .create({
        model: 'asks',
        messages: [
          user(s.question),
          first.data.choices[0]!.message,
          ...first.data.choices[0]!.message.tool_calls!.map(({ id }, n) => ({
            role: 'tool' as const,
            tool_call_id: id,
            content: [ulm, bonn][n]!,
          })),
        ],
        tools: [...tools],
      })
      .withResponse();
    expect([second.data.choices[0]!.message.content, second.data.choices[0]!.finish_reason]).toEqual(['Snow and rain.', 'stop']);
    expect(second.response.headers.get('x-run-id')).toBe(runId);
    expect(second.data.id).not.toBe(first.data.id);
    const since = system.models.calls.slice(asked).map(({ body }) => body);
    expect(since.filter((body) => Array.isArray(body['tools']))).toEqual([]);
    for (const role of ['planner', 'composer'] as const)
      for (const result of [ulm, bonn]) expect(JSON.stringify(s.calls(role)[0]!.messages)).toContain(result);
    expect(JSON.stringify(since.filter((body) => JSON.stringify(body).includes('Say it of Bonn.')).at(-1))).toContain(bonn);
    expect([await runsOf(s.question), (await readRun(system.url(), runId)).outcome]).toEqual([1, 'completed']);
    expect(s.unused()).toEqual([]);
  });

  it('waits for the results even when every process that knew the run dies', async () => {
    const s = new CommitteeScript(system.models, question());
    toolModel(s.question, completion({ tool_calls: calls }, 'tool_calls'));
    const first = await client.chat.completions.create({ model: 'asks', messages: [user(s.question)], tools: [...tools] }).withResponse();
    const runId = first.response.headers.get('x-run-id')!;
    for (const service of ['gateway', 'merger'] as const) {
      await system.process(service).kill('SIGKILL');
      await system.process(service).ready();
    }
    s.plan([{ id: 'x1', task: 'Say it.', capability: 'expert.general', needs: [] }])
      .expert('It snows.')
      .answer(['It snows all the same.']);
    const results = first.data.choices[0]!.message.tool_calls!.map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: 'snow',
    }));
    const messages = [user(s.question), first.data.choices[0]!.message, ...results];
    const second = await client.chat.completions.create({ model: 'asks', messages, tools: [...tools] }).withResponse();
    expect([second.data.choices[0]!.message.content, second.response.headers.get('x-run-id')]).toEqual(['It snows all the same.', runId]);
    expect([await runsOf(s.question), s.unused()]).toEqual([1, []]);
  });

  it('passes results of unknown runs to the committee as part of the conversation', async () => {
    const s = new CommitteeScript(system.models, question());
    toolModel(s.question, completion({ content: 'That is all.' }, 'stop'), true);
    s.plan([{ id: 'x1', task: 'Say it.', capability: 'expert.general', needs: [] }])
      .expert('It snows.')
      .answer(['It snows in Ulm.']);
    const result = `${inventedName()} degrees and snow`;
    const answer = await client.chat.completions.create({
      model: 'asks',
      messages: [
        user(s.question),
        { role: 'assistant', content: null, tool_calls: calls },
        { role: 'tool', tool_call_id: 'call_1', content: result },
      ],
      tools: [...tools],
    });
    expect(answer.choices[0]!.message.content).toBe('It snows in Ulm.');
    expect(JSON.stringify(s.calls('composer')[0]!.messages)).toContain(result);
    expect(await runsOf(s.question)).toBe(1);
  });

  it('lets the committee answer when the tool model fails', async () => {
    const s = new CommitteeScript(system.models, question());
    system.models.add({
      match: ({ body, messages }) => Array.isArray(body['tools']) && messages.some(({ content }) => content === s.question),
      reply: { status: 400, body: { error: { message: 'I know no tools.', type: 'invalid_request_error' } } },
    });
    s.plan([{ id: 'x1', task: 'Say it.', capability: 'expert.general', needs: [] }])
      .expert('It rains.')
      .answer(['It rains again.']);
    const answer = await client.chat.completions.create({ model: 'asks', messages: [user(s.question)], tools: [...tools] });
    expect(answer.choices[0]!.message.content).toBe('It rains again.');
  });

  it('does not call the tool model when the client forbids calls', async () => {
    const s = new CommitteeScript(system.models, question());
    s.plan([{ id: 'x1', task: 'Say it.', capability: 'expert.general', needs: [] }])
      .expert('It rains.')
      .answer(['It rains.']);
    await client.chat.completions.create({ model: 'asks', messages: [user(s.question)], tools: [...tools], tool_choice: 'none' });
    expect(s.unused()).toEqual([]);
  });
});

describe('a template that passes tools through', () => {
  it('lets the tool model answer the whole turn, also after a tool, without a run', async () => {
    const text = question();
    toolModel(text, completion({ tool_calls: calls }, 'tool_calls'));
    toolModel(text, completion({ content: 'It snows.' }, 'stop'), true);
    const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
      client.chat.completions.create({ model: 'passes', messages, tools: [...tools], tool_choice: 'auto' });
    const first = await ask([user(text)]);
    expect(first.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: calls } });
    const second = await ask([user(text), first.choices[0]!.message, { role: 'tool', tool_call_id: 'call_1', content: 'snow' }]);
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'It snows.' } });
    expect(await runsOf(text)).toBe(0);
  });
});

describe('a tool that must be called', () => {
  const forced = { type: 'function', function: { name: 'get_weather' } } as const;

  it.each(['asks', 'passes'])('is called by the tool model of %s', async (model) => {
    const text = question();
    toolModel(text, completion({ tool_calls: calls }, 'stop'));
    const answer = await client.chat.completions.create({ model, messages: [user(text)], tools: [...tools], tool_choice: forced });
    expect(answer.choices[0]!.message.tool_calls).toEqual(calls);
    expect(system.models.calls.at(-1)!.body['tool_choice']).toEqual(forced);
  });

  it('is refused by a template that ignores the tools of clients, unless it is the only one', async () => {
    const other = { type: 'function', function: { name: 'other' } } as const;
    const asked = client.chat.completions.create({
      model: 'ignores',
      messages: [user(question())],
      tools: [...tools, other],
      tool_choice: 'required',
    });
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'tool_choice', message: expect.stringContaining('client_tools') });
  });
});
