import { describe, expect, it } from '@jest/globals';
import { type FailureCode } from '@conclave/contracts';
import { ScriptedModelServer } from '@conclave/test-support';
import { ask, bare, closing, codeOf, failureOf, open, retry, scripted, watch } from './__fixtures__/servers.js';

describe('a repeated call', () => {
  it.each([408, 409, 429, 500, 503])('follows status %i, and reports each repetition', async (status) => {
    const server = await scripted(
      { match: 'hello', reply: { status } },
      { match: 'hello', reply: { status } },
      { match: 'hello', reply: { text: 'hi' } },
    );
    const retries: number[] = [];
    const reply = await open(server.url).call(ask(), watch({ onRetry: ({ attempt }) => void retries.push(attempt) }));
    expect(reply.content).toBe('hi');
    expect(reply.usage.calls).toBe(3);
    expect(retries).toEqual([2, 3]);
    server.expectCalls(3);
  });

  it('waits for the time in Retry-After', async () => {
    const server = await scripted(
      { match: 'hello', reply: { status: 429, headers: { 'retry-after-ms': '80' } } },
      { match: 'hello', reply: { text: 'hi' } },
    );
    await open(server.url).call(ask(), watch());
    expect(server.calls[1]!.at - server.calls[0]!.at).toBeGreaterThanOrEqual(78);
  });

  it('does not follow a wait that is longer than the call may take', async () => {
    const server = await scripted({ match: 'hello', reply: { status: 429, headers: { 'retry-after': '30' } } });
    const failure = await failureOf(open(server.url).call(ask(), watch()));
    expect(failure).toMatchObject({ code: 'PROVIDER_RATE_LIMITED', options: { retryAfterMs: 30_000 } });
    expect(failure.message).toContain('It asks for a wait of 30 s.');
    server.expectCalls(1);
  });

  it('ends after a bounded number of attempts', async () => {
    const server = await scripted({ match: 'hello', reply: { status: 500 }, times: Infinity });
    const failure = await failureOf(open(server.url, {}, { retry: { ...retry, attempts: 3 } }).call(ask(), watch()));
    expect(failure).toMatchObject({ code: 'PROVIDER_FAILED', options: { context: { attempts: 3, usage: { calls: 3 } } } });
    server.expectCalls(3);
  });

  it('follows a stream that broke before its first text, but never one that had begun', async () => {
    const server = await scripted(
      { match: 'one', reply: { truncateAfter: [], cleanly: true } },
      { match: 'one', reply: { truncateAfter: [] } },
      { match: 'one', reply: { text: 'hi' } },
      { match: 'two', reply: { truncateAfter: [{ text: 'ha' }], cleanly: true } },
      { match: 'three', reply: { truncateAfter: [{ text: 'ha' }] } },
    );
    const models = open(server.url);
    expect((await models.call(ask('one'), watch())).content).toBe('hi');
    const broken = await failureOf(models.call(ask('two'), watch()));
    expect(broken).toMatchObject({ code: 'PROVIDER_STREAM_BROKEN', options: { context: { usage: { completion: 1, estimated: true } } } });
    expect(await codeOf(models.call(ask('three'), watch()))).toBe('PROVIDER_STREAM_BROKEN');
    server.expectCalls(5);
  });

  it('waits for the time that an error of Gemini names, or does not follow if it is too long', async () => {
    const busy = (retryDelay: string) => [
      { error: { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED', details: [{ '@type': 'RetryInfo', retryDelay }] } },
    ];
    const server = await scripted(
      { match: 'soon', reply: { status: 429, body: busy('0.2s') } },
      { match: 'soon', reply: { text: 'hi' } },
      { match: 'later', reply: { status: 429, body: busy('86400s') } },
    );
    const began = performance.now();
    expect((await open(server.url).call(ask('soon'), watch())).content).toBe('hi');
    expect(performance.now() - began).toBeGreaterThanOrEqual(200);
    expect(await failureOf(open(server.url).call(ask('later'), watch()))).toMatchObject({
      code: 'PROVIDER_RATE_LIMITED',
      detail: expect.stringContaining('Quota exceeded.'),
      options: { retryAfterMs: 86_400_000 },
    });
    server.expectCalls(3);
  });

  it('reaches a server that comes back', async () => {
    const first = await scripted();
    const { port, url } = first;
    await first.close();
    let back: Promise<ScriptedModelServer> | undefined;
    const models = open(url, {}, { retry: { attempts: 10, base_ms: 20, cap_ms: 50 } });
    const reply = await models.call(
      ask(),
      watch({ onRetry: () => void (back ??= ScriptedModelServer.start({ port, script: [{ match: 'hello', reply: { text: 'hi' } }] })) }),
    );
    closing.push(async () => (await back)?.close());
    expect(reply.content).toBe('hi');
  });
});

const error = (message: string, more: object = {}) => ({ error: { message, type: 'invalid_request_error', param: null, ...more } });

describe('a refusal', () => {
  it.each<[string, number, object | string]>([
    ['OpenAI', 404, error('The model `m` does not exist or you do not have access to it.', { code: 'model_not_found' })],
    ['OpenAI, to a project', 403, error('Project `proj_x` does not have access to model `m`', { code: 'model_not_found' })],
    ['Groq', 400, error('The model `m` has been decommissioned and is no longer supported.', { code: 'model_decommissioned' })],
    ['Ollama', 404, { error: { message: 'model "m" not found, try pulling it first', type: 'api_error', param: null, code: null } }],
    ['older Ollama', 404, { error: "model 'm' not found, try pulling it first" }],
    ['vLLM', 404, { object: 'error', message: 'The model `a/b` does not exist.', type: 'NotFoundError', param: null, code: 404 }],
    ['LM Studio', 404, error('Model "m" not found. Please specify a valid model.\n\nYour models:\n\nx', { param: 'model' })],
    ['newer LM Studio', 400, error('Invalid model identifier "m". Please specify a valid downloaded model (e.g., x).', { param: 'model' })],
    ["llama.cpp's router", 400, { error: { code: 400, message: 'model not found', type: 'invalid_request_error' } }],
    ['LiteLLM', 400, error('/chat/completions: Invalid model name passed in model=m. Call `/v1/models` to view available models.')],
    ['older LiteLLM', 400, { error: { message: "400: {'error': 'Invalid model name passed in model=m'}", type: 'None', code: 400 } }],
    [
      'a proxy',
      400,
      error("litellm.NotFoundError: OpenAIException - Error code: 404 - {'error': {'message': 'The model `m` does not exist'}}"),
    ],
    ['Azure', 404, { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } }],
    ['GitHub', 400, { error: { code: 'unknown_model', message: 'Unknown model: m', details: 'Unknown model: m' } }],
    ['Gemini', 404, [{ error: { code: 404, message: 'models/m is not found for API version v1main.', status: 'NOT_FOUND' } }]],
    ['DeepSeek', 400, error('Model Not Exist', { code: 'invalid_request_error' })],
    ['Mistral', 400, { object: 'error', message: 'Invalid model: m', type: 'invalid_model', param: null, code: '1500' }],
    ['OpenRouter', 400, { error: { message: 'a/m-7b is not a valid model ID', code: 400 } }],
    ['OpenRouter without servers', 404, { error: { message: 'No endpoints found for a/m-7b:free.', code: 404 } }],
    ['Anthropic', 404, { type: 'error', error: { type: 'not_found_error', message: 'model: m' } }],
  ])('of %s means an unknown model', async (_name, status, body) => {
    const server = await scripted({ match: 'hello', reply: { status, body } });
    expect(await codeOf(open(server.url).call(ask(), watch()))).toBe('PROVIDER_MODEL_UNKNOWN');
    server.expectCalls(1);
  });

  it.each<[number, object, string]>([
    [404, { error: { message: 'No endpoints found that support tool use for this model.', code: 404 } }, 'that support tool use'],
    [
      404,
      { error: { message: 'No endpoints found matching your data policy. Change the model settings.', code: 404 } },
      'your data policy',
    ],
    [400, { error: { message: 'registry.ollama.ai/library/m does not support tools', type: 'api_error' } }, 'does not support tools'],
    [400, { error: { message: '/models/m is not a multimodal model', type: 'BadRequestError', code: 400 } }, 'is not a multimodal model'],
    [400, error("No models loaded. Please load a model in the developer page or use the 'lms load' command."), 'No models loaded'],
    [400, error('The chat template of model m-7b was not found'), 'The chat template'],
    [404, error('The model file was not found on the disk of this machine'), 'The model file'],
    [400, error("The model's tokenizer does not exist"), "The model's tokenizer"],
    [404, error('Tool "get_model" not found in the request'), 'get_model'],
    [400, error('Invalid model parameters: top_k'), 'Invalid model parameters'],
    [400, error('model name is missing from the request'), 'model name is missing'],
    [400, error('Unable to access non-serverless model a/m.', { code: 'model_not_available' }), 'non-serverless model'],
  ])('that mentions a model, but means something else, is shown in the words of the server (%i, %j)', async (status, body, words) => {
    const server = await scripted({ match: 'hello', reply: { status, body } });
    const failure = await failureOf(open(server.url).call(ask(), watch()));
    expect(failure).toMatchObject({ code: 'PROVIDER_REFUSED', detail: expect.stringContaining(words) });
    expect(failure.detail).not.toContain('no such endpoint');
  });

  it.each([
    '404 page not found',
    { detail: 'Not Found' },
    { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } },
    error('Invalid URL (POST /chat/completions)'),
    '<!DOCTYPE html><p>No model here</p>',
    '',
  ])('of a path says how addresses end: %j', async (body) => {
    const server = await scripted({ match: 'hello', reply: { status: 404, body } });
    const failure = await failureOf(open(server.url).call(ask(), watch()));
    expect(failure).toMatchObject({ code: 'PROVIDER_REFUSED', detail: expect.stringContaining('ends in /v1') });
  });
});

describe('a failure', () => {
  it.each<[string, number, object | string, FailureCode, number]>([
    ['a wrong key', 401, { error: { message: 'Incorrect API key', code: 'invalid_api_key' } }, 'PROVIDER_UNAUTHENTICATED', 1],
    ['a forbidden model', 403, {}, 'PROVIDER_UNAUTHENTICATED', 1],
    ['an unknown path', 404, '404 page not found', 'PROVIDER_REFUSED', 1],
    [
      'a used-up quota',
      429,
      { error: { message: 'You exceeded your current quota', code: 'insufficient_quota', type: 'insufficient_quota' } },
      'PROVIDER_REFUSED',
      1,
    ],
    ['a bad request', 400, { error: { message: 'no' } }, 'PROVIDER_REFUSED', 1],
    ['a redirect', 307, {}, 'PROVIDER_REFUSED', 1],
    [
      'OpenAI overflow',
      400,
      { error: { message: "This model's maximum context length is 128000 tokens.", code: 'context_length_exceeded' } },
      'CONTEXT_OVERFLOW',
      1,
    ],
    [
      'llama.cpp overflow',
      400,
      {
        error: {
          code: 400,
          message: 'the request exceeds the available context size, try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 9,
          n_ctx: 8,
        },
      },
      'CONTEXT_OVERFLOW',
      1,
    ],
    [
      'vLLM overflow',
      400,
      {
        object: 'error',
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        type: 'BadRequestError',
        code: 400,
      },
      'CONTEXT_OVERFLOW',
      1,
    ],
    [
      'LM Studio overflow',
      400,
      { error: 'The number of tokens to keep from the initial prompt is greater than the context length.' },
      'CONTEXT_OVERFLOW',
      1,
    ],
    [
      'llama.cpp overflow in the middle of a reply',
      500,
      { error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } },
      'CONTEXT_OVERFLOW',
      1,
    ],
    [
      'Gemini overflow',
      400,
      [
        {
          error: {
            code: 400,
            message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
      'CONTEXT_OVERFLOW',
      1,
    ],
    ['Ollama overflow', 500, { error: { message: 'prompt too long; exceeded max context length by 12 tokens' } }, 'CONTEXT_OVERFLOW', 1],
  ])('for %s has its code and is not retried', async (_name, status, body, code, calls) => {
    const server = await scripted({ match: 'hello', reply: { status, body } });
    expect(await codeOf(open(server.url).call(ask(), watch()))).toBe(code);
    server.expectCalls(calls);
  });

  it.each([
    ['broken JSON', 'application/json', '{"choices":'],
    ['JSON without choices', 'application/json', '{"answer":"x"}'],
    ['a web page', 'text/html', '<html>welcome</html>'],
    ['broken JSON in a stream', 'text/event-stream', 'data: {"choices": [}\n\n'],
    ['a stream of something else', 'text/event-stream', 'data: 42\n\n'],
  ])('is PROVIDER_REPLY_INVALID for %s', async (_name, type, body) => {
    const url = await bare((_request, response) => void response.writeHead(200, { 'content-type': type }).end(body));
    expect(await codeOf(open(url).call(ask(), watch()))).toBe('PROVIDER_REPLY_INVALID');
  });

  it('shows the title of a web page, not the page', async () => {
    const page = '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center></body></html>';
    const server = await scripted({ match: 'hello', reply: { status: 502, body: page }, times: Infinity });
    const { detail } = await failureOf(open(server.url).call(ask(), watch()));
    expect(detail).toContain('It says: a web page, “502 Bad Gateway”');
  });

  it('never contains the prompt or the key', async () => {
    const url = await bare((request, response, body) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `Bad: ${body} ${request.headers.authorization}` } }));
    });
    const failure = await failureOf(open(url, { api_key: 'k-7777-secret' }).call(ask('the answer to my private question'), watch()));
    const shown = `${failure.message} ${JSON.stringify(failure.options)} ${String((failure.cause as Error | undefined)?.stack)}`;
    expect(shown).not.toMatch(/private question|7777/);
  });

  it('is PROVIDER_UNREACHABLE with the reason when nothing listens', async () => {
    const server = await scripted();
    await server.close();
    const failure = await failureOf(open(server.url, {}, { retry: { ...retry, attempts: 2 } }).call(ask(), watch()));
    expect(failure.code).toBe('PROVIDER_UNREACHABLE');
    expect(failure.message).toContain('ECONNREFUSED');
  });

  it('is MODEL_NOT_FOUND for a provider that is not configured', async () => {
    expect(await codeOf(open('http://127.0.0.1:9/v1').call(ask('x', { model: 'm@other' }), watch()))).toBe('MODEL_NOT_FOUND');
  });

  it('does not send the key after a redirect', async () => {
    const other = await scripted();
    const url = await bare((_request, response) => void response.writeHead(307, { location: `${other.url}/chat/completions` }).end());
    expect(await codeOf(open(url, { api_key: 'k' }).call(ask(), watch()))).toBe('PROVIDER_REFUSED');
    other.expectCalls(0);
    expect(other.otherRequests).toEqual([]);
  });
});
