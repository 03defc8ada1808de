import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import type { CallRecorded } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { SseClient } from '../__fixtures__/sse-client.js';
import { completed, reply, World } from '../__fixtures__/world.js';
import { fitOf } from './answer-schema.js';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const schema = { type: 'object', properties: { town: { type: 'string' } }, required: ['town'], additionalProperties: false };
const strict = { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } };
const asks = (over: Record<string, unknown> = {}) => world.chat({ response_format: strict, stream: false, ...over });
const ends = async (answer: string, over: Parameters<typeof completed>[0] = {}): Promise<void> => {
  await until('the run', () => world.runs().length === 1);
  world.write(completed({ answer, ...over }));
};
const contentOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { choices: { message: { content: string } }[] }).choices[0]!.message.content;

describe('an answer that must match a schema', () => {
  it('is returned when it matches, without its code fence', async () => {
    const pending = asks();
    await ends('```json\n{"town":"Rom"}\n```');
    expect(await contentOf(await pending)).toBe('{"town":"Rom"}');
    expect(world.models.calls).toEqual([]);
  });

  it('is looked for in a fence of line ends in time proportional to its length', async () => {
    const from = process.cpuUsage();
    expect(await fitOf(`\`\`\`\n${'\n\t'.repeat(20_000)}~`, { type: 'string' })).toMatchObject({ problem: 'It is not JSON.' });
    expect(process.cpuUsage(from).user / 1_000).toBeLessThan(1_000);
  });

  it('is converted by one model call, which is counted and recorded', async () => {
    world.models.next(() => Promise.resolve(reply({ content: '{"town":"Rom"}' })));
    const pending = asks();
    await ends('The town is Rome.');
    const body = (await (await pending).json()) as { choices: { message: { content: string } }[]; usage: { prompt_tokens: number } };
    expect(body.choices[0]!.message.content).toBe('{"town":"Rom"}');
    expect(body.usage.prompt_tokens).toBe(123);
    const { body: sent } = world.models.calls[0]!.request;
    expect(sent['response_format']).toEqual(strict);
    expect(JSON.stringify(sent['messages'])).toContain('The town is Rome.');
    await until('the record', () => world.events('audit').length === 1);
    expect(world.events<CallRecorded>('audit')[0]).toMatchObject({ runId: world.run(), data: { purpose: 'schema', status: 'ok' } });
  });

  it.each([
    ['prose again', () => Promise.resolve(reply({ content: 'I only write prose.' }))],
    ['the wrong object', () => Promise.resolve(reply({ content: '{"answer":"Rom","note":""}' }))],
    ['no reply', () => Promise.reject(new Error('down'))],
  ])('is an error after %s, and SDKs are told not to retry', async (_name, answer) => {
    world.models.next(answer);
    const pending = asks();
    await ends('I only write prose.');
    const response = await pending;
    expect(response.status).toBe(502);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({ error: { code: 'ANSWER_NOT_IN_SCHEMA' } });
    expect(world.models.calls).toHaveLength(1);
  });

  it('is held back on a stream until it is known to match', async () => {
    const client = new SseClient(await asks({ stream: true }));
    await until('the run', () => world.requested().length === 1);
    world.compose();
    await world.chunk('{"town":', 0);
    world.write({ kind: 'replanning', iteration: 1, max: 3, gap: 'the town' });
    await until('progress', () => client.reasoning !== '');
    expect(client.content).toBe('');
    world.write(completed({ answer: '{"town":"Rom"}' }));
    await client.all();
    expect(client.content).toBe('{"town":"Rom"}');
    expect(client.events.at(-1)!.data).toBe('[DONE]');
  });

  it('is an error in the stream when it does not match, and none of its text was sent', async () => {
    world.models.next(() => Promise.resolve(reply({ content: '[]' })));
    const client = new SseClient(await asks({ stream: true }));
    await until('the run', () => world.requested().length === 1);
    world.compose();
    await world.chunk('Sorry', 0);
    world.write(completed({ answer: 'Sorry' }));
    await client.all();
    expect([client.content, client.failure?.code]).toEqual(['', 'ANSWER_NOT_IN_SCHEMA']);
  });

  it('that was cut short says so in its finish reason', async () => {
    const pending = asks();
    await ends('{"town":"R', { cutShort: true });
    expect(await (await pending).json()).toMatchObject({ choices: [{ message: { content: '{"town":"R' }, finish_reason: 'length' }] });
  });

  it('may have any form when the schema is not strict', async () => {
    const pending = asks({ response_format: { type: 'json_schema', json_schema: { ...strict.json_schema, strict: false } } });
    await ends('Rome.');
    expect(await contentOf(await pending)).toBe('Rome.');
  });

  it('is parsed by the OpenAI client', async () => {
    const client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: 'sk-test' });
    const pending = client.chat.completions.parse({
      model: 'conclave',
      messages: [{ role: 'user', content: 'Where?' }],
      response_format: strict as never,
    });
    await ends('{"town":"Rom"}');
    expect((await pending).choices[0]!.message.parsed).toEqual({ town: 'Rom' });
  });
});

describe('a schema from a client', () => {
  it('cannot stall the gateway with an expensive pattern', async () => {
    const began = process.cpuUsage();
    expect(await fitOf(JSON.stringify('a'.repeat(40)), { type: 'string', pattern: '^(a+)+$!' })).toHaveProperty('problem');
    expect(await fitOf(JSON.stringify(`${'a'.repeat(60)}!`), { type: 'string', pattern: '^(a+)+$' })).toHaveProperty('problem');
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(1_000);
  });

  it.each([
    [{ $ref: '#/$defs/town', $defs: { town: schema } }, '{"town":"x"}', true],
    [{ $ref: '#/$defs/nowhere' }, '{}', false],
    [{ anyOf: [{ type: 'number' }, schema] }, '7', true],
    [{ type: 'array', items: schema }, '[{"town":1}]', false],
    [{ enum: ['a', 'b'] }, '"c"', false],
  ])('is matched or not: %j', async (one, answer, kept) => expect('text' in (await fitOf(answer, one))).toBe(kept));

  it.each([
    [{ type: 'xml' }, 'response_format.type'],
    [{ type: 'json_schema' }, 'response_format.json_schema.schema'],
    [{ type: 'json_schema', json_schema: { name: 'x' } }, 'response_format.json_schema.schema'],
    [{ type: 'json_schema', json_schema: { name: 'x', schema: { type: 'banana' } } }, 'response_format.json_schema.schema'],
    [
      {
        type: 'json_schema',
        json_schema: { name: 'x', schema: { type: 'object', properties: { a: { items: { type: ['string', 'fruit'] } } } } },
      },
      'response_format.json_schema.schema',
    ],
    [
      { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object', properties: { a: 7 } } } },
      'response_format.json_schema.schema',
    ],
    [{ type: 'json_schema', json_schema: { name: 'x', schema: { type: 'string', pattern: '(' } } }, 'response_format.json_schema.schema'],
  ])('is refused when no answer could match it: %j', async (response_format, param) => {
    const response = await asks({ response_format });
    expect([response.status, ((await response.json()) as { error: { param: string } }).error.param]).toEqual([400, param]);
    expect(world.runs()).toEqual([]);
  });
});
