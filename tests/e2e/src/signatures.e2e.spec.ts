// Models that sign their calls of tools, as Gemini 3 does: agents send the calls back without what their API does not know.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { Gemini } from '@conclave/test-support';
import { CommitteeScript, inventedName, plainTemplate, System } from '@conclave/test-support/system';

const shared = { ...plainTemplate, strategy: 'single-pass', capabilities: [], experts: { general: { t1: ['m@fake'] } } } as const;

let system: System;
let gemini: Gemini;
beforeAll(async () => {
  system = await System.start({
    gateways: 2,
    configuration: {
      templates: {
        passes: { ...shared, client_tools: 'pass_through', caches: { answer: false, semantic: false, plan: false, search: false } },
        asks: { ...shared, client_tools: 'ask_first', caches: { answer: false, semantic: false, plan: false, search: false } },
      },
    },
  });
  system.models.add({
    name: 'gemini',
    match: ({ body }) => Array.isArray(body['tools']),
    reply: ({ body }) => gemini.reply(body),
    times: Infinity,
  });
});
beforeEach(() => void (gemini = new Gemini({ steps: 3, atOnce: 2 })));
afterAll(() => system?.stop());
afterEach(() => expect(system.models.violations()).toEqual([]));

/** Each request of a conversation goes to another gateway: none of them remembers a signature. */
let requests = 0;
const url = () => system.url((requests += 1) % 2 === 0 ? 1 : 2);
const openai = () => new OpenAI({ baseURL: `${url()}/v1`, apiKey: 'any', maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: url(), apiKey: 'any', maxRetries: 0 });
const parameters = { type: 'object' as const, properties: { at: { type: 'number' } } };

/** Work with tools until the model answers, with the library of each API; clients keep only what their API documents. */
type Agent = (model: string, question: string) => Promise<string>;
const overChat =
  (stream: boolean): Agent =>
  async (model, question) => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }];
    const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'look', parameters } }];
    for (;;) {
      const { choices } = stream
        ? await openai().chat.completions.stream({ model, messages, tools }).finalChatCompletion()
        : await openai().chat.completions.create({ model, messages, tools });
      const { content, tool_calls: calls = [] } = choices[0]!.message;
      if (calls.length === 0) return content!;
      const kept = calls.flatMap((call) =>
        call.type === 'function'
          ? [{ id: call.id, type: call.type, function: { name: call.function.name, arguments: call.function.arguments } }]
          : [],
      );
      messages.push({ role: 'assistant', content, tool_calls: kept });
      for (const { id } of kept) messages.push({ role: 'tool', tool_call_id: id, content: 'seen' });
    }
  };
const overMessages =
  (stream: boolean): Agent =>
  async (model, question) => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }];
    for (;;) {
      const asked = { model, max_tokens: 500, messages, tools: [{ name: 'look', input_schema: parameters }] };
      const { content } = stream ? await anthropic().messages.stream(asked).finalMessage() : await anthropic().messages.create(asked);
      const calls = content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
      if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      for (const { id } of calls) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
      messages.push({ role: 'assistant', content: calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })) });
      messages.push({ role: 'user', content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'seen' })) });
    }
  };
const overResponses =
  (stream: boolean, stored: boolean): Agent =>
  async (model, question) => {
    let input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: question }];
    let previous: string | null = null;
    for (;;) {
      const tools: OpenAI.Responses.FunctionTool[] = [{ type: 'function', name: 'look', parameters, strict: null }];
      const asked = { model, input, tools, store: stored, previous_response_id: previous };
      const answer: OpenAI.Responses.Response = stream
        ? await openai().responses.stream(asked).finalResponse()
        : await openai().responses.create(asked);
      const calls = answer.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      if (calls.length === 0) return answer.output_text;
      const results = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'seen' }));
      const made = calls.map(({ call_id, name, arguments: given }) => ({
        ...{ type: 'function_call' as const, call_id, name, arguments: given },
      }));
      if (stored) [previous, input] = [answer.id, results];
      else input = [...input, ...made, ...results];
    }
  };

const agents: Readonly<Record<string, Agent>> = {
  'chat completions': overChat(false),
  'chat completions, streamed': overChat(true),
  messages: overMessages(false),
  'messages, streamed': overMessages(true),
  responses: overResponses(false, false),
  'responses, streamed': overResponses(true, false),
  'responses, continued by their id': overResponses(true, true),
};

describe.each(Object.entries(agents))('over %s, a model that signs its calls', (_name, agent) => {
  it.each(['m@fake', 'passes'])('gets its own signatures back, at %s', async (model) => {
    expect(await agent(model, 'Look.')).toBe('It is red.');
    // No request was refused, so no signature was replaced.
    expect([gemini.seen.length, gemini.given.size]).toEqual([4, 3]);
    for (const signature of gemini.given) expect(JSON.stringify(gemini.seen.at(-1))).toContain(signature);
    expect(JSON.stringify(gemini.seen)).not.toContain('__signed_');
  });
});

describe('a template that asks first', () => {
  it('finds the run of a signed call, and its next question brings the signature back', async () => {
    gemini = new Gemini({ steps: 1 });
    const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'look', parameters } }];
    const s = new CommitteeScript(system.models, `What colour is ${inventedName()}?`);
    const first = await openai()
      .chat.completions.create({ model: 'asks', messages: [{ role: 'user', content: s.question }], tools })
      .withResponse();
    const [{ id, function: called }] = first.data.choices[0]!.message.tool_calls as [OpenAI.ChatCompletionMessageFunctionToolCall];
    s.plan([{ id: 'x1', task: 'Say it.', capability: 'expert.general', needs: [] }])
      .expert('It is red.')
      .answer(['It is red.']);
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'user', content: s.question },
      { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: called }] },
      { role: 'tool', tool_call_id: id, content: 'a red one' },
    ];
    const second = await openai().chat.completions.create({ model: 'asks', messages, tools }).withResponse();
    expect(second.response.headers.get('x-run-id')).toBe(first.response.headers.get('x-run-id'));
    expect([s.unused(), second.data.choices[0]!.message.content]).toEqual([[], 'It is red.']);
    const next = [...messages, second.data.choices[0]!.message, { role: 'user' as const, content: `And ${inventedName()}?` }];
    await openai().chat.completions.create({ model: 'asks', messages: next, tools });
    expect(JSON.stringify(gemini.seen.at(-1))).toContain([...gemini.given][0]);
  });
});
