import { describe, expect, it } from '@jest/globals';
import { ask, bare, codeOf, open, watch } from './__fixtures__/servers.js';
import { concessionFor, type CompletionBody } from './concessions.js';
import { readError } from './error-body.js';
import { LearnedConcessions, learnedMs } from './learned-concessions.js';

type Body = Record<string, unknown>;
const body: CompletionBody = {
  model: 'm',
  stream: true,
  stream_options: {},
  temperature: 0,
  top_p: 1,
  seed: 1,
  stop: ['x'],
  max_tokens: 5,
  response_format: { type: 'json_schema' },
};
const conceded = (error: unknown, status = 400): string | null => concessionFor(status, readError(error), body, new Set());
const fastApi = { detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted', input: 1 }] };
const mistral = (message: unknown) => ({ object: 'error', message, type: 'invalid_request_error', param: null, code: null });
const cerebras = {
  message: "body.seed: property 'body.seed' is unsupported",
  type: 'invalid_request_error',
  param: 'validation_error',
  code: 'wrong_api_format',
};
const vllm = "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra inputs are not permitted', 'input': 1}]";
const gemini = (...names: string[]) => [
  {
    error: {
      code: 400,
      message: names.map((name) => `Invalid JSON payload received. Unknown name ${name}: Cannot find field.`).join('\n'),
    },
  },
];

describe('a parameter that a server does not support', () => {
  it.each([
    [
      {
        message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        param: 'max_tokens',
        code: 'unsupported_parameter',
      },
      'max_completion_tokens',
    ],
    [
      { message: "Unsupported value: 'temperature' does not support 0 with this model.", param: 'temperature', code: 'unsupported_value' },
      'no temperature',
    ],
    [{ message: 'Your organization must be verified to stream this model.', param: 'stream', code: 'unsupported_value' }, 'no stream'],
    [
      { message: "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", param: 'response_format' },
      'no response_format',
    ],
    [{ message: 'Extra inputs are not permitted: stream_options' }, 'no usage option'],
    [{ message: 'This response_format type is unavailable now' }, 'no response_format'],
    [{ message: "'response_format.type' must be 'json_schema' or 'text'" }, 'no response_format'],
    [{ message: 'Unrecognized request argument supplied: seed' }, 'no seed'],
    [{ message: 'The `stop` parameter is not supported.' }, 'no stop'],
    [{ message: 'property top_p is unsupported' }, 'no top_p'],
    [{ message: 'This model does not support the parameter `top_p`.' }, 'no top_p'],
    ['Unknown parameter: "stream_options"', 'no usage option'],
    [fastApi, 'no seed'],
    [mistral(fastApi), 'no seed'],
    [mistral(JSON.stringify(fastApi)), 'no seed'],
    [{ object: 'error', message: vllm, type: 'BadRequestError', param: null, code: 400 }, 'no seed'],
    [gemini('"reasoning"', '"seed"'), 'no seed'],
    [cerebras, 'no seed'],
    [{ error: { message: "Extra inputs are not permitted, field: 'seed', value: 1" } }, 'no seed'], // Fireworks
    [{ error: { message: 'stream_options: Extra inputs are not permitted', param: null } }, 'no usage option'], // Anthropic
    [{ code: 'Client specified an invalid argument', error: 'Argument not supported on this model: stop' }, 'no stop'], // xAI
    [{ message: 'Malformed input request: #: extraneous key [top_p] is not permitted, please reformat your input' }, 'no top_p'], // Bedrock
    [{ message: '`temperature` and `top_p` cannot both be specified for this model. Please use only one.' }, 'no top_p'], // Claude 4.5
    [{ message: 'invalid temperature: only 1 is allowed for this model', type: 'invalid_request_error' }, 'no temperature'], // Kimi
    [{ error: 'Input validation error: `temperature` must be strictly positive', error_type: 'validation' }, 'no temperature'], // TGI
    [{ status: 422, message: 'Invalid params: temperature must be in range (0, +inf)' }, 'no temperature'], // GigaChat
  ])('is dropped: %j', (error, concession) => expect(conceded(error)).toBe(concession));

  it.each([
    [
      {
        message: "Invalid schema for response_format 'x': 'nonsense' is not valid under any of the given schemas.",
        param: 'response_format',
        code: 'invalid_json_schema',
      },
    ],
    [
      {
        message: "Invalid schema for response_format 'x': In context=(), 'format' is not supported.",
        param: 'response_format.json_schema',
        code: null,
      },
    ],
    [{ message: 'temperature must be between 0 and 1' }],
    [
      {
        message: 'Invalid value for temperature: 1.7 is greater than the maximum of 1',
        param: 'temperature',
        code: 'decimal_above_max_value',
      },
    ],
    [
      {
        message: "Unsupported value: 'messages[0].role' does not support 'developer' with this model.",
        param: 'messages[0].role',
        code: 'unsupported_value',
      },
    ],
    [{ message: 'Your text "stop the stream, temperature unknown, seed invalid" was refused' }],
    [{ message: `The prompt says that stream is not supported. ${'x'.repeat(400)}` }],
    [{ message: 'You must be 18 to use the temperature tool; unknown user' }],
    [{ message: 'upstream timed out: seed node unavailable' }],
    [gemini(`"stop" at 'tools[0].function_declarations[0].parameters'`)],
  ])('is kept after an error of one call: %j', (error) => expect(conceded(error)).toBeNull());
});

describe('a refusal', () => {
  const refusing = async (seen: Body[]): Promise<string> =>
    bare((_request, response, text) => {
      const sent = JSON.parse(text) as Body;
      seen.push(sent);
      const refused = sent['temperature'] !== undefined;
      response.writeHead(refused ? 400 : 200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          refused
            ? { error: { message: "Unsupported value: 'temperature' does not support 0", param: 'temperature', code: 'unsupported_value' } }
            : { choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] },
        ),
      );
    });

  it('changes the call that meets it, and later calls only after a second refusal, which is reported', async () => {
    const seen: Body[] = [];
    const learned: string[] = [];
    const models = open(await refusing(seen), {}, { onConceded: (ref, what) => void learned.push(`${ref}: ${what}`) });
    const calls: number[] = [];
    for (let n = 0; n < 3; n += 1) calls.push((await models.call(ask('hello', { temperature: 0 }), watch())).usage.calls);
    expect(calls).toEqual([2, 2, 1]);
    expect(seen.map((sent) => 'temperature' in sent)).toEqual([true, false, true, false, false]);
    expect(learned).toEqual(['m@p: no temperature']);
    const other = await models.call(ask('hello', { model: 'other@p', temperature: 0 }), watch());
    expect(other.usage.calls).toBe(2);
  });

  it('of a value fails its call and changes nothing for others', async () => {
    const seen: Body[] = [];
    const url = await bare((_request, response, text) => {
      const sent = JSON.parse(text) as Body;
      seen.push(sent);
      const wrong = JSON.stringify(sent).includes('nonsense');
      response.writeHead(wrong ? 400 : 200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          wrong
            ? { error: { message: "Invalid schema for response_format 'x'", param: 'response_format', code: 'invalid_request_error' } }
            : { choices: [{ message: { content: '{}' }, finish_reason: 'stop' }] },
        ),
      );
    });
    const models = open(url);
    const format = (type: string) => ({ responseFormat: { type: 'json_schema', json_schema: { name: 'x', schema: { type } } } });
    for (let n = 0; n < 3; n += 1) expect(await codeOf(models.call(ask('hello', format('nonsense')), watch()))).toBe('PROVIDER_REFUSED');
    await models.call(ask('hello', format('object')), watch());
    expect(seen).toHaveLength(4);
    expect(seen[3]!['response_format']).toMatchObject({ type: 'json_schema' });
  });

  it('is forgotten after ten minutes', () => {
    let now = 0;
    const learned = new LearnedConcessions(
      () => undefined,
      () => now,
    );
    learned.confirm('m', 'no seed');
    expect([...learned.of('m')]).toEqual([]);
    learned.confirm('m', 'no seed');
    expect([...learned.of('m')]).toEqual(['no seed']);
    expect([...learned.of('m2')]).toEqual([]);
    now = learnedMs;
    expect([...learned.of('m')]).toEqual([]);
    learned.confirm('m', 'no seed');
    expect([...learned.of('m')]).toEqual([]);
  });
});

describe('a requested form of the reply', () => {
  const schema = { type: 'json_schema', json_schema: { name: 'plan', schema: { type: 'object' }, strict: true } };
  const wish = ask('hello, in JSON', { wishedFormat: schema });
  /** Records request formats in `seen`; accepts only those in `takes`. */
  const server = async (seen: unknown[], takes: readonly unknown[], refusal: string | object): Promise<string> =>
    bare((_request, response, text) => {
      const format = (JSON.parse(text) as Body)['response_format'] as { type: string } | undefined;
      seen.push(format?.type);
      const taken = takes.includes(format?.type);
      response.writeHead(taken ? 200 : 400, { 'content-type': 'application/json' });
      response.end(JSON.stringify(taken ? { choices: [{ message: { content: '{}' }, finish_reason: 'stop' }] } : { error: refusal }));
    });

  it('is sent unchanged when the server accepts it', async () => {
    const seen: Body[] = [];
    const url = await bare((_request, response, text) => {
      seen.push(JSON.parse(text) as Body);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ message: { content: '{}' }, finish_reason: 'stop' }] }));
    });
    await open(url).call(wish, watch());
    expect(seen[0]!['response_format']).toEqual(schema);
    expect(seen[0]).not.toHaveProperty('wishedFormat');
  });

  it.each([
    [{ message: 'This response_format type is unavailable now', type: 'invalid_request_error' }],
    [{ message: "Invalid schema for response_format 'plan': In context=(), 'required' is missing.", param: 'response_format', code: null }],
    [{ message: 'Invalid JSON payload received. Unknown name "additionalProperties" at \'generation_config.response_schema\'' }],
    ['Failed to parse grammar'],
    [{ message: "Failed to generate JSON. Please adjust your prompt. See 'failed_generation'.", code: 'json_validate_failed' }], // Groq
  ])('becomes json_object when a server refuses it with %j, which is remembered after two calls', async (refusal) => {
    const seen: unknown[] = [];
    const models = open(await server(seen, ['json_object', undefined], refusal));
    for (let n = 0; n < 3; n += 1) await models.call(wish, watch());
    expect(seen).toEqual(['json_schema', 'json_object', 'json_schema', 'json_object', 'json_object']);
  });

  it('is omitted instead of becoming json_object if no message speaks of JSON, which servers require', async () => {
    const seen: unknown[] = [];
    const models = open(
      await server(seen, ['json_object', undefined], { message: 'Invalid schema for response_format', param: 'response_format' }),
    );
    for (let n = 0; n < 3; n += 1) await models.call(ask('hello', { wishedFormat: schema }), watch());
    await models.call(wish, watch());
    expect(seen).toEqual(['json_schema', undefined, 'json_schema', undefined, undefined, 'json_object']);
  });

  it('is omitted when json_object is refused too', async () => {
    const seen: unknown[] = [];
    const models = open(await server(seen, [undefined], { message: 'response_format is not supported', param: 'response_format' }));
    const calls: number[] = [];
    for (let n = 0; n < 3; n += 1) calls.push((await models.call(wish, watch())).usage.calls);
    expect(seen).toEqual(['json_schema', 'json_object', undefined, 'json_schema', 'json_object', undefined, undefined]);
    expect(calls).toEqual([3, 3, 1]);
  });

  it('yields to the form that the client requests, which remembered refusals do not change', async () => {
    const seen: unknown[] = [];
    const models = open(
      await server(seen, ['json_object', undefined], { message: 'Invalid schema for response_format', param: 'response_format' }),
    );
    for (let n = 0; n < 2; n += 1) await models.call(wish, watch());
    seen.length = 0;
    expect(await codeOf(models.call({ ...wish, responseFormat: schema }, watch()))).toBe('PROVIDER_REFUSED');
    expect(seen).toEqual(['json_schema']);
  });

  it('is not dropped for an unrelated error', async () => {
    const seen: unknown[] = [];
    const models = open(await server(seen, [], { message: 'messages: at least one is needed', param: 'messages' }));
    expect(await codeOf(models.call(wish, watch()))).toBe('PROVIDER_REFUSED');
    expect(seen).toEqual(['json_schema']);
  });
});
