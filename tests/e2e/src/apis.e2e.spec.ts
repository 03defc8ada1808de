import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { RunView } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { CommitteeScript, expert, latch, roleOf, System } from '@conclave/test-support/system';
import { describeOnce } from './harness/describe-once.js';
import { keys, keySettings, keyVariables } from './scenarios/callers.js';

let system: System;
beforeAll(async () => {
  system = await System.start({ gateways: 2, configuration: { keys: keySettings }, env: keyVariables });
});
afterAll(() => system?.stop());
afterEach(() => expect(system?.models.violations() ?? []).toEqual([]));

const openai = (key: string = keys.ann, n = 1) => new OpenAI({ baseURL: `${system.url(n)}/v1`, apiKey: key, maxRetries: 0 });
const anthropic = (key: string = keys.ann) => new Anthropic({ baseURL: system.url(), apiKey: key, maxRetries: 0 });

/** What one API returns for one question. */
interface Said {
  readonly text: string;
  readonly input: number;
  readonly output: number;
  readonly finish: string;
  readonly runId: string;
}
type Ask = (question: string) => Promise<Said>;
const model = 'conclave-fast';
const of = (headers: Headers, rest: Omit<Said, 'runId'>): Said => ({ ...rest, runId: headers.get('x-run-id')! });

/** Every API with its own client, whole and streamed. */
const apis: Readonly<Record<string, Ask>> = {
  'chat completions': async (content) => {
    const { data, response } = await openai()
      .chat.completions.create({ model, messages: [{ role: 'user', content }] })
      .withResponse();
    const [{ message, finish_reason: finish } = { message: { content: '' }, finish_reason: '' }] = data.choices;
    return of(response.headers, {
      text: message.content!,
      input: data.usage!.prompt_tokens,
      output: data.usage!.completion_tokens,
      finish,
    });
  },
  messages: async (content) => {
    const asked = { model, max_tokens: 500, messages: [{ role: 'user' as const, content }] };
    const { data, response } = await anthropic().messages.create(asked).withResponse();
    const text = data.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return of(response.headers, { text, input: data.usage.input_tokens, output: data.usage.output_tokens, finish: data.stop_reason! });
  },
  'messages, streamed': async (content) => {
    const stream = anthropic().messages.stream({ model, max_tokens: 500, messages: [{ role: 'user', content }] });
    const { response } = await stream.withResponse();
    const { content: blocks, usage, stop_reason: finish } = await stream.finalMessage();
    const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return of(response.headers, { text, input: usage.input_tokens, output: usage.output_tokens, finish: finish! });
  },
  responses: async (input) => {
    const { data, response } = await openai().responses.create({ model, input }).withResponse();
    const usage = { input: data.usage!.input_tokens, output: data.usage!.output_tokens };
    return of(response.headers, { text: data.output_text, ...usage, finish: data.status! });
  },
  'responses, streamed': async (input) => {
    const data = await openai().responses.stream({ model, input }).finalResponse();
    const usage = { input: data.usage!.input_tokens, output: data.usage!.output_tokens };
    return { text: data.output_text, ...usage, finish: data.status!, runId: data.id.replace('resp_', 'run_') };
  },
  completions: async (prompt) => {
    const { data, response } = await openai().completions.create({ model, prompt }).withResponse();
    const [{ text, finish_reason: finish } = { text: '', finish_reason: '' }] = data.choices;
    return of(response.headers, { text, input: data.usage!.prompt_tokens, output: data.usage!.completion_tokens, finish });
  },
};
const finishes: Readonly<Record<string, string>> = {
  'chat completions': 'stop',
  messages: 'end_turn',
  'messages, streamed': 'end_turn',
  responses: 'completed',
  'responses, streamed': 'completed',
  completions: 'stop',
};

const viewOf = async (runId: string): Promise<RunView> => {
  const response = await fetch(`${system.url()}/v1/runs/${runId}`, { headers: { 'x-api-key': keys.ann } });
  return (await response.json()) as RunView;
};

describe('the APIs of one engine', () => {
  it('return the same answer and usage for the same question, with one run record each', async () => {
    const s = new CommitteeScript(system.models, 'Is it the same behind each API?');
    const said: Record<string, Said> = {};
    for (const [name, ask] of Object.entries(apis)) {
      s.plan([expert('x1', 'Say so.')])
        .expert('It is the same.')
        .answer(['It is ', 'the same.']);
      said[name] = await ask(s.question);
    }
    const first = said['chat completions']!;
    expect(first.text).toContain('It is the same.');
    expect(first.input).toBeGreaterThan(0);
    for (const [name, { finish, runId, ...same }] of Object.entries(said)) {
      expect([name, same, finish]).toEqual([name, { text: first.text, input: first.input, output: first.output }, finishes[name]]);
      const { outcome, answer, usage } = await viewOf(runId);
      expect([name, outcome, answer]).toEqual([name, 'completed', first.text]);
      expect([usage.total.prompt, usage.total.completion, usage.total.calls]).toEqual([first.input, first.output, 3]);
    }
    expect(new Set(Object.values(said).map(({ runId }) => runId)).size).toBe(Object.keys(apis).length);
    expect([s.unused(), s.calls().length]).toEqual([[], 3 * Object.keys(apis).length]);
  });

  it.each(['messages', 'responses', 'completions'] as const)(
    'of which %s is one run for two requests with one Idempotency-Key, at two gateways',
    async (route) => {
      const s = new CommitteeScript(system.models, `Is it one run? (${route})`)
        .plan([expert('x1', 'Say so.')])
        .expert('It is one.')
        .answer(['It is one.']);
      const asked = {
        messages: { max_tokens: 9_000, messages: [{ role: 'user', content: s.question }] },
        responses: { input: s.question },
        completions: { prompt: s.question },
      }[route];
      const send = (n: number) =>
        fetch(`${system.url(n)}/v1/${route}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': keys.ann, 'idempotency-key': `once-${route}` },
          body: JSON.stringify({ model, ...asked }),
        });
      const both = await Promise.all([send(1), send(2)]);
      expect(both.map(({ status }) => status)).toEqual([200, 200]);
      expect(new Set(both.map(({ headers }) => headers.get('x-run-id'))).size).toBe(1);
      const [one, two] = (await Promise.all(both.map((response) => response.json()))) as { id: string }[];
      expect(one!.id).toBe(two!.id);
      expect([s.unused(), s.calls().length]).toEqual([[], 3]);
    },
  );

  it.each<[string, (question: string) => { abort(): void }]>([
    [
      'Anthropic',
      (content) => {
        const stream = anthropic().messages.stream({ model, max_tokens: 500, messages: [{ role: 'user', content }] });
        stream.on('error', () => undefined).on('abort', () => undefined);
        return stream;
      },
    ],
    [
      'OpenAI, of responses',
      (input) => {
        const stream = openai().responses.stream({ model, input });
        stream.on('error', () => undefined);
        stream.on('abort', () => undefined);
        return stream;
      },
    ],
  ])('stop the call to the model when the client of %s aborts', async (name, ask) => {
    const waiting = latch();
    const s = new CommitteeScript(system.models, `Is it stopped? (${name})`)
      .plan([expert('x1', 'Say so.')])
      .expert('never', { when: waiting.opened });
    const stream = ask(s.question);
    const call = await until('the call of the expert', () => s.calls().find((one) => roleOf(one) === 'expert'));
    stream.abort();
    // How soon is measured by B8; beside other work, one second cannot be guaranteed.
    await until('the end of the call', () => call.abortedAt, { timeoutMs: 5_000 });
    waiting.open();
  });
});

describe('stored responses', () => {
  it('continue on another gateway, and belong to their tenant', async () => {
    const s = new CommitteeScript(system.models, 'Which town was it?')
      .plan([expert('x1', 'Say which.')])
      .expert('Saint Orrin.')
      .answer(['Saint Orrin.']);
    const first = await openai().responses.create({ model, input: s.question });
    const next = new CommitteeScript(system.models, 'And when was that?')
      .plan([expert('x2', 'Say when.')])
      .expert('In 1902.')
      .answer(['In 1902.']);
    const second = await openai(keys.bob, 2).responses.create({ model, input: next.question, previous_response_id: first.id });
    expect(second.output_text).toContain('In 1902.');
    expect(JSON.stringify(next.calls()[0]!.messages)).toContain('Saint Orrin.');
    expect(await openai(keys.bob, 2).responses.retrieve(first.id)).toMatchObject({ status: 'completed', output_text: first.output_text });
    for (const tried of [openai(keys.cyd).responses.retrieve(first.id), openai(keys.cyd).responses.delete(first.id)])
      await expect(tried).rejects.toMatchObject({ status: 404, code: 'RESPONSE_NOT_FOUND' });
    await openai().responses.delete(first.id);
    await expect(openai(keys.ann, 2).responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
  });

  it('can be made in the background', async () => {
    const waiting = latch();
    const s = new CommitteeScript(system.models, 'Is it in the background?')
      .plan([expert('x1', 'Say so.')])
      .expert('It is.', { when: waiting.opened })
      .answer(['It is.']);
    const begun = await openai().responses.create({ model, input: s.question, background: true });
    expect(['queued', 'in_progress']).toContain(begun.status);
    await until('the expert', () => s.calls().some((call) => roleOf(call) === 'expert'));
    waiting.open();
    const done = await until(
      'the answer',
      async () => {
        const now = await openai(keys.ann, 2).responses.retrieve(begun.id);
        return now.status === 'completed' ? now : null;
      },
      { timeoutMs: 20_000 },
    );
    expect(done.output_text).toContain('It is.');
  });

  it('is streamed in the background until it ends, on another gateway too, and again afterwards', async () => {
    const waiting = latch();
    const s = new CommitteeScript(system.models, 'Is it streamed in the background?')
      .plan([expert('x1', 'Say so.')])
      .expert('It is.', { when: waiting.opened })
      .answer(['It ', 'is.']);
    const begun = await openai().responses.create({ model, input: s.question, background: true, stream: true });
    const events = async (stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>) => {
      const all: OpenAI.Responses.ResponseStreamEvent[] = [];
      for await (const event of stream) {
        all.push(event);
        if (event.type === 'response.in_progress') follow(event.response.id);
      }
      return all;
    };
    let follow: (id: string) => void;
    const named = new Promise<string>((resolve) => (follow = resolve));
    const first = events(begun);
    const id = await named;
    const second = openai(keys.ann, 2)
      .responses.retrieve(id, { stream: true, starting_after: 1 })
      .then((stream) => events(stream));
    await until('the expert', () => s.calls().some((call) => roleOf(call) === 'expert'));
    waiting.open();
    const all = await first;
    expect(all.at(-1)).toMatchObject({ type: 'response.completed', response: { id, status: 'completed' } });
    expect(JSON.stringify(all)).toContain('It is.');
    expect(await second).toEqual(all.slice(2));
    expect(await events(await openai().responses.retrieve(id, { stream: true }))).toEqual(all);
  });

  it('is cancelled in the background', async () => {
    const closed = latch();
    const other = new CommitteeScript(system.models, 'Is it cancelled in the background?')
      .plan([expert('x1', 'Say so.')])
      .expert('never', { when: closed.opened });
    const { id } = await openai().responses.create({ model, input: other.question, background: true });
    const call = await until('the expert', () => other.calls().find((one) => roleOf(one) === 'expert'));
    await openai(keys.ann, 2).responses.cancel(id);
    await until('the end of the call', () => call.abortedAt, { timeoutMs: 5_000 });
    closed.open();
    await until('its status', async () => (await openai().responses.retrieve(id)).status === 'cancelled', { timeoutMs: 10_000 });
  });
});

describeOnce('embeddings of the running program', () => {
  it('place texts of similar meaning closer together, and are refused for chat', async () => {
    const { data } = await openai().embeddings.create({
      model: 'conclave-embedding',
      input: ['The ferry leaves at nine.', 'The ship departs at nine.', 'Bread is baked from flour.'],
    });
    const [a, b, c] = data.map(({ embedding }) => embedding);
    const dot = (one: readonly number[], other: readonly number[]): number => one.reduce((sum, value, at) => sum + value * other[at]!, 0);
    expect(dot(a!, b!)).toBeGreaterThan(dot(a!, c!));
    // The tokens of the first text in cl100k_base, as LangChain in Python sends them.
    const tokens = [791, 52_650, 11_141, 520, 11_888, 13];
    const numbers = await openai().embeddings.create({ model: 'conclave-embedding', input: [tokens] });
    expect(numbers.data[0]!.embedding).toEqual(a);
    const chat = openai().chat.completions.create({ model: 'conclave-embedding', messages: [{ role: 'user', content: 'x' }] });
    await expect(chat).rejects.toMatchObject({ status: 404 });
  });
});
