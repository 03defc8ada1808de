import { afterEach, describe, expect, it } from '@jest/globals';
import { Failure, type StreamBody } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { SseClient } from '../__fixtures__/sse-client.js';
import { completed, usage, World, type WorldOptions } from '../__fixtures__/world.js';

let world: World;
afterEach(() => world.close());

/** Opens a gateway and one stream on it. */
async function streaming(
  over: Record<string, unknown> = {},
  options: WorldOptions = {},
): Promise<{ readonly response: Response; readonly client: SseClient }> {
  world = await World.open(options);
  const response = await world.chat(over);
  return { response, client: new SseClient(response) };
}

const plan: StreamBody[] = [
  { kind: 'run.started', template: 'conclave', strategy: 'agentic', maxRounds: 4, question: 'Why is the sky blue?' },
  { kind: 'planning', epoch: 0, iteration: 0, max: 3 },
  { kind: 'replanning', iteration: 1, max: 3, gap: 'the year' },
];

describe('a chat stream', () => {
  it('opens with its head and the role before anything has happened', async () => {
    const { response, client } = await streaming();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': expect.stringContaining('no-cache'),
      'x-accel-buffering': 'no',
      'x-run-id': world.run(),
      'x-conclave': '1',
      'x-request-id': expect.stringMatching(/^req_/),
    });
    await until('the role', () => client.chunks.length > 0);
    expect(client.chunks[0]!.choices).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null },
    ]);
    world.write(completed());
    await client.all();
  });

  it('carries a question to the log: immutable goal, resolved template, caller without the key', async () => {
    world = await World.open();
    const response = await world.chat(
      { temperature: 0.5, conclave: { rounds: 1 } },
      { headers: { authorization: 'Bearer sk-secret', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` } },
    );
    const [event] = world.requested();
    expect(event).toMatchObject({
      id: world.run(),
      runId: world.run(),
      traceparent: expect.stringContaining('a'.repeat(32)),
      data: {
        goal: 'Why is the sky blue?',
        conversation: [],
        origin: 'chat',
        template: { id: 'conclave', max_agentic_rounds: 1 },
        answer: { temperature: 0.5 },
        caller: { tenant: 'default', actor: expect.stringMatching(/^key_[0-9a-f]{12}$/) },
      },
    });
    expect(JSON.stringify([event, world.lines, world.history])).not.toContain('sk-secret');
    world.write(completed());
    await response.text();
  });

  it('has the shape that every client can read', async () => {
    const { client } = await streaming({ stream_options: { include_usage: true } });
    world.write(...plan);
    world.compose();
    await world.chunk('It is ', 0);
    await world.chunk('blue', 6);
    world.write(completed({ answer: 'It is blue [1].' }));
    const events = await client.all();
    expect(client.error).toBeNull();
    expect(client.tail).toBe('');
    expect(events.at(-1)!.raw).toBe('data: [DONE]');
    for (const event of events) expect(event).toMatchObject({ id: null, event: null, data: expect.stringMatching(/./) });
    const { chunks } = client;
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({
        id: `chatcmpl-${world.run().slice(4)}`,
        object: 'chat.completion.chunk',
        created: chunks[0]!.created,
        model: 'conclave',
      });
      expect(Array.isArray(chunk.choices)).toBe(true);
    }
    expect(chunks.filter((chunk) => chunk.choices[0]?.delta.role)).toHaveLength(1);
    const terminal = chunks.filter((chunk) => chunk.choices[0]?.finish_reason);
    expect(terminal).toHaveLength(1);
    expect(terminal[0]!.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(terminal[0]!.conclave).toEqual({
      run_id: world.run(),
      outcome: 'completed',
      rule: 'D3',
      reason: 'Nothing is missing.',
      rounds: 1,
      calls: 5,
      cost: 0.25,
    });
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 120, completion_tokens: 45, total_tokens: 165, completion_tokens_details: { reasoning_tokens: 7 } },
    });
    expect(client.content).toBe('It is blue [1].');
    expect(chunks.filter((chunk) => chunk.usage)).toHaveLength(1);
    const annotated = chunks.filter((chunk) => chunk.choices[0]?.delta.annotations);
    expect(annotated).toHaveLength(1);
    expect(annotated[0]!.choices[0]!.delta).toEqual({
      content: ' [1].',
      annotations: [{ type: 'url_citation', url_citation: { url: 'http://127.0.0.1/sky', title: 'Sky', start_index: 11, end_index: 14 } }],
    });
  });

  it('has no usage chunk unless the client asked for one', async () => {
    const { client } = await streaming();
    world.write(completed());
    await client.all();
    expect(client.chunks.some((chunk) => chunk.usage)).toBe(false);
  });

  it('has finish_reason length only when the answer was cut short', async () => {
    const { client } = await streaming();
    world.write(completed({ cutShort: true }));
    await client.all();
    expect(client.chunks.at(-1)!.choices[0]!.finish_reason).toBe('length');
  });

  it('sends tokens of the final synthesis as they arrive', async () => {
    const { client } = await streaming();
    world.compose();
    await world.chunk('It', 0);
    await until('the first token', () => client.content === 'It');
    await world.chunk(' is', 2);
    await until('the second token', () => client.content === 'It is');
    expect(client.chunks.filter((chunk) => chunk.choices[0]?.delta.content)).toHaveLength(2);
    world.write(completed({ answer: 'It is' }));
    await client.all();
    expect(client.content).toBe('It is');
    expect(world.metric('onFirstContent')).toHaveLength(1);
  });

  it('holds back text that may still change and sends the answer in one chunk at the end', async () => {
    const { client } = await streaming();
    world.compose('held');
    await world.chunk('A draft', 0);
    world.write({ kind: 'decided', epoch: 0, rule: 'D7', sentence: 'Nothing new came.' });
    await until('the decision', () => client.reasoning.includes('⚖️ Nothing new came.'));
    expect(client.content).toBe('');
    world.write(completed({ answer: 'The answer.', sources: [] }));
    await client.all();
    expect(client.chunks.filter((chunk) => chunk.choices[0]?.delta.content).map((chunk) => chunk.choices[0]!.delta.content)).toEqual([
      'The answer.',
    ]);
  });

  it('sends the missing end of an answer that was cut inside a character sequence', async () => {
    const { client } = await streaming();
    world.compose();
    await world.chunk('Zürich 🏔', 0);
    world.write(completed({ answer: 'Zürich 🏔️', sources: [] }));
    await client.all();
    expect(client.content).toBe('Zürich 🏔️');
  });
});

describe('a stream that cannot continue', () => {
  it('ends with an error in the stream when the run fails', async () => {
    const { client } = await streaming();
    world.write(
      completed({
        outcome: 'failed',
        answer: null,
        failure: { code: 'CALL_TIMEOUT', message: 'Nobody answered.', retriable: true },
        usage,
      }),
    );
    const events = await client.all();
    expect(client.failure).toMatchObject({
      type: 'upstream_error',
      code: 'CALL_TIMEOUT',
      param: null,
      message: expect.stringContaining('Nobody answered.'),
    });
    expect(events.at(-1)!.data).toMatch(/^\{"error"/);
    expect(client.chunks.some((chunk) => chunk.choices[0]?.finish_reason)).toBe(false);
  });

  it('says that the run was cancelled', async () => {
    const { client } = await streaming();
    world.write(completed({ outcome: 'cancelled', answer: null, reason: 'by command' }));
    await client.all();
    expect(client.failure?.code).toBe('RUN_CANCELLED');
  });

  it('reports that the text it sent is no longer valid, and the run continues', async () => {
    const { client } = await streaming();
    world.compose();
    await world.chunk('It is', 0);
    await until('the text', () => client.content === 'It is');
    await world.chunk('It was', 0, 2);
    await client.all();
    expect(client.failure?.code).toBe('ANSWER_SUPERSEDED');
    await until('the client to be forgotten', () => world.stores.clients(world.run()).size === 0);
    expect(world.stores.flagged.size).toBe(0);
  });

  it('survives a short outage of its store', async () => {
    const { client } = await streaming({}, { limits: { pollMs: 20 } });
    await until('the role', () => client.chunks.length > 0);
    world.stores.streamOutage = new Failure('STORE_UNAVAILABLE');
    world.write(...plan);
    await until('the warning', () => world.lines.some(({ message }) => message === 'run stream cannot be read'));
    world.stores.streamOutage = null;
    world.write(completed());
    await client.all();
    expect(client.content).toBe('It is blue [1].');
  });
});

describe('an answer that is not streamed', () => {
  it('is one object with usage, sources and the reason why the run stopped', async () => {
    world = await World.open();
    const pending = world.chat({ stream: false });
    await until('the run', () => world.runs().length === 1);
    world.write(...plan, completed());
    const response = await pending;
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-run-id': world.run(),
      'x-conclave-cost': '0.25',
      'x-conclave-rounds': '1',
      'x-conclave-outcome': 'completed',
      link: expect.stringContaining(world.run()),
    });
    expect(await response.json()).toMatchObject({
      object: 'chat.completion',
      model: 'conclave',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'It is blue [1].', annotations: [{ type: 'url_citation' }] },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 120, completion_tokens: 45, total_tokens: 165 },
      conclave: { rule: 'D3', reason: 'Nothing is missing.' },
    });
  });

  it('contains only the answer', async () => {
    world = await World.open({ template: { progress: 'think' } });
    const pending = world.chat({ stream: false });
    await until('the run', () => world.runs().length === 1);
    world.write(...plan, completed());
    const body = (await (await pending).json()) as { choices: { message: { content: string; reasoning_content?: string } }[] };
    expect(body.choices[0]!.message.content).toBe('It is blue [1].');
    expect(body.choices[0]!.message.reasoning_content).toBeUndefined();
  });

  it('is an error with x-should-retry: false when the run fails', async () => {
    world = await World.open();
    const pending = world.chat({ stream: false });
    await until('the run', () => world.runs().length === 1);
    world.write(
      completed({
        outcome: 'failed',
        answer: null,
        failure: { code: 'PROVIDER_UNREACHABLE', message: 'No model answered.', retriable: true },
      }),
    );
    const response = await pending;
    expect(response.status).toBe(502);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({ error: { code: 'PROVIDER_UNREACHABLE', type: 'upstream_error' } });
  });
});
