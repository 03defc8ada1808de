import { describe, expect, it } from '@jest/globals';
import { ask, codeOf, failureOf, open, retry, scripted, watch } from './__fixtures__/servers.js';
import { readError } from './error-body.js';
import { saysOverflow } from './limits-reached.js';

const openAi = (message: string, more: object = {}) => ({ error: { message, type: 'invalid_request_error', ...more } });

describe('a prompt that is too long', () => {
  it.each<[string, number, object | string]>([
    [
      'xAI',
      400,
      { code: 'invalid-argument', error: "This model's maximum prompt length is 500000 but the request contains 637815 tokens." },
    ],
    [
      'SGLang',
      400,
      { object: 'error', message: "The input (9000 tokens) is longer than the model's context length (8192 tokens).", code: 400 },
    ],
    ['TGI', 422, { error: 'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000', error_type: 'validation' }],
    [
      'LM Studio',
      400,
      {
        error:
          'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens.',
      },
    ],
    ['newer LM Studio', 400, { error: 'Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)' }],
    ['Anthropic', 400, openAi('input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000')],
    ['OpenAI', 400, openAi('Your input exceeds the context window of this model. Please adjust your input and try again.')],
    ['Moonshot', 400, openAi('Invalid request: Your request exceeded model token limit: 8192')],
    ['Alibaba', 400, openAi('<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]')],
    [
      'Cloudflare',
      400,
      {
        errors: [
          { message: 'AiError: The estimated number of input tokens (9000) exceeded this model context window limit (8192).', code: 5021 },
        ],
      },
    ],
    [
      'Groq',
      413,
      openAi('Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7500', { code: 'rate_limit_exceeded' }),
    ],
    ['GitHub', 413, { error: { code: 'tokens_limit_reached', message: 'Request body too large for m model. Max size: 8000 tokens.' } }],
    ['a proxy', 413, '<html><title>413 Request Entity Too Large</title></html>'],
  ])('is recognised in the words of %s, and the failure says what to do', async (_name, status, body) => {
    const server = await scripted({ match: 'hello', reply: { status, body } });
    const failure = await failureOf(open(server.url).call(ask(), watch()));
    expect(failure).toMatchObject({ code: 'CONTEXT_OVERFLOW', detail: expect.stringContaining('`context`') });
    server.expectCalls(1);
  });

  it.each([
    'max_tokens is too large',
    'Too many tokens, please wait before trying again',
    'Input length of the tool exceeds 1000 characters',
  ])('is not meant by: %s', (message) => expect(saysOverflow(400, readError({ error: message }))).toBe(false));

  it.each([
    ['', 'context_length_exceeded'],
    ['400', 'context_length_exceeded'],
    ['string_above_max_length', 'string_above_max_length'],
  ])("has a code in the answer to a client's own request that agents know, unless the server sent one (%s)", async (code, expected) => {
    const message = 'Requested tokens exceed context limit';
    const server = await scripted({ match: 'hello', reply: { status: 400, body: { error: { message, code } } } });
    const body = { model: 'x', messages: [{ role: 'user', content: 'hello' }] };
    const failure = await failureOf(open(server.url).pass({ model: 'm@p', body, timeoutMs: 5_000 }, watch()));
    expect(failure.options.upstream).toMatchObject({ status: 400, message, code: expected });
  });
});

describe('an account without credit', () => {
  it.each<[string, number, object]>([
    ['Moonshot', 429, { error: { message: 'Your account is suspended, please check your plan', type: 'exceeded_current_quota_error' } }],
    ['Zhipu', 429, { error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' } }],
    [
      'xAI',
      429,
      { code: 'Some resource has been exhausted', error: 'Your team has either used all available credits or reached its limit.' },
    ],
    ['DeepSeek', 402, { error: { message: 'Insufficient Balance', type: 'unknown_error', code: 'invalid_request_error' } }],
  ])('is not asked again: %s', async (_name, status, body) => {
    const server = await scripted({ match: 'hello', reply: { status, body } });
    expect(await failureOf(open(server.url).call(ask(), watch()))).toMatchObject({
      code: 'PROVIDER_REFUSED',
      detail: expect.stringContaining('quota of the account'),
    });
    server.expectCalls(1);
  });

  it('is not meant by Gemini, whose quota of the current minute is over soon', async () => {
    const message = 'You exceeded your current quota, please check your plan and billing details.';
    const body = [{ error: { code: 429, message, status: 'RESOURCE_EXHAUSTED' } }];
    const server = await scripted({ match: 'hello', reply: { status: 429, body } }, { match: 'hello', reply: { text: 'hi' } });
    expect((await open(server.url).call(ask(), watch())).content).toBe('hi');
  });
});

describe('a wait that stands in the body of an error', () => {
  it('is kept: OpenRouter repeats the headers of the limit there', async () => {
    const headers = { 'X-RateLimit-Limit': '50', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(Date.now() + 3_600_000) };
    const body = { error: { message: 'Rate limit exceeded: free-models-per-day.', code: 429, metadata: { headers } } };
    const server = await scripted({ match: 'hello', reply: { status: 429, body } });
    expect(await codeOf(open(server.url).call(ask(), watch()))).toBe('PROVIDER_RATE_LIMITED');
    server.expectCalls(1);
  });

  it('is as long as a model needs to load, or a few seconds: Hugging Face, llama.cpp', () => {
    expect(readError({ error: 'Model a/b is currently loading', estimated_time: 20.5 }).afterMs).toBe(20_500);
    expect(readError({ error: { message: 'Loading model', type: 'unavailable_error', code: 503 } }).afterMs).toBe(5_000);
    expect(readError({ error: { message: 'The model is down.' } }).afterMs).toBeUndefined();
  });

  it.each([
    ['Rate limit reached for m on tokens per day (TPD): Limit 100000. Please try again in 7m12.5s. Need more tokens?', 432_500], // Groq
    ['Rate limit reached for gpt-4o on tokens per min (TPM). Please try again in 340ms.', 340], // OpenAI
    ['You exceeded your current quota.\nPlease retry in 35.9s.', 35_900], // Gemini
    ['Requests have exceeded the call rate limit. Please retry after 45 seconds.', 45_000], // Azure
    ['Rate limit is exceeded. Try again in 50 seconds.', 50_000], // Azure
    ['Please try again in 2 minutes', 120_000],
    ['Please try again in a moment', undefined],
    ['Your files 5s old: try again after some time', undefined],
  ])('is read from words, because proxies drop the header: %s', (message, expected) =>
    expect(readError({ error: { message } }).afterMs).toBe(expected),
  );

  it('does not hold up a call that ends before', async () => {
    const body = { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } };
    const server = await scripted({ match: 'hello', reply: { status: 503, body } });
    expect(await codeOf(open(server.url, {}, { retry }).call(ask('hello', { timeoutMs: 2_000 }), watch()))).toBe('PROVIDER_FAILED');
    server.expectCalls(1);
  });
});
