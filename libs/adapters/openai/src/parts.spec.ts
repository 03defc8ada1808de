import { estimateTokens } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import { CallSlots } from './call-slots.js';
import { readError } from './error-body.js';
import { ollamaContext } from './local-context.js';
import { kindByName } from './model-kind.js';
import { backOffMs, retryAfterMs } from './retry.js';
import { quotable } from './upstream-failure.js';

const now = Date.parse('2026-01-01T00:00:00Z');

describe('Retry-After', () => {
  it.each([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': 'soon' }, null],
    [{}, null],
  ])('reads %j', (given, expected) => expect(retryAfterMs(given, now)).toBe(expected));

  it('is waited in full; otherwise the wait doubles, with jitter, up to the cap', () => {
    const settings = { attempts: 9, base_ms: 100, cap_ms: 1_000, longest_wait_ms: 9_999 };
    expect(backOffMs(2, 2_000, settings, () => 0)).toBe(2_000);
    expect(backOffMs(2, 2_000, settings, () => 1)).toBe(2_200);
    expect([2, 3, 4, 5, 6, 7].map((next) => backOffMs(next, null, settings, () => 1))).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(backOffMs(4, null, settings, () => 0)).toBe(200);
  });
});

describe('the slots of a provider', () => {
  const never = new AbortController().signal;
  it('are given to callers in order, and a waiting caller can leave', async () => {
    const slots = new CallSlots(1);
    const order: string[] = [];
    const first = await slots.take(never);
    const leaving = new AbortController();
    const second = slots.take(leaving.signal).catch((error: { code: string }) => order.push(error.code));
    const third = slots.take(never).then((give) => (order.push('third'), give()));
    const fourth = slots.take(never).then((give) => (order.push('fourth'), give()));
    leaving.abort();
    await second;
    first();
    first();
    await Promise.all([third, fourth]);
    expect(order).toEqual(['CALL_CANCELLED', 'third', 'fourth']);
    expect(await slots.take(never)).toBeInstanceOf(Function);
  });
});

describe('the words of a server', () => {
  it.each([
    [{ error: { message: 'm', type: 't', code: 'c', param: 'p' } }, { message: 'm', type: 't', code: 'c', param: 'p' }],
    [{ error: 'model not loaded' }, { message: 'model not loaded', type: '', code: '', param: '' }],
    [
      { object: 'error', message: 'm', type: 'BadRequestError', code: 400 },
      { message: 'm', type: 'BadRequestError', code: '400', param: '' },
    ],
    [{ detail: 'Not Found' }, { message: 'Not Found', type: '', code: '', param: '' }],
    [
      [{ error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED', details: [{ reason: 'x' }, { retryDelay: '23.4s' }] } }],
      { message: 'm', type: 'RESOURCE_EXHAUSTED', code: '429', param: '', afterMs: 23_400 },
    ],
    [
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: '{"error":{"message":"no"}}', provider_name: 'Azure' } } },
      { message: 'Provider returned error (Azure): no', type: '', code: '400', param: '' },
    ],
    [
      { error: { message: 'Provider returned error', code: 429, metadata: { raw: 'busy now' } } },
      { message: 'Provider returned error: busy now', type: '', code: '429', param: '' },
    ],
    [
      { error: { message: 'flagged', code: 403, metadata: { reasons: ['x'], provider_name: 'OpenAI' } } },
      { message: 'flagged', type: '', code: '403', param: '' },
    ],
    // KoboldCpp, TabbyAPI, Cloudflare
    [
      { detail: { msg: 'Server is busy.', type: 'service_unavailable' } },
      { message: 'Server is busy.', type: 'service_unavailable', code: '', param: '' },
    ],
    [{ detail: { error: { message: 'aborted', trace: null } } }, { message: 'aborted', type: '', code: '', param: '' }],
    [
      { errors: [{ message: 'AiError: Bad input', code: 5006 }], success: false, result: {}, messages: [] },
      { message: 'AiError: Bad input', type: '', code: '5006', param: '' },
    ],
    [[], { message: '', type: '', code: '', param: '' }],
    ['plain', { message: 'plain', type: '', code: '', param: '' }],
    [null, { message: '', type: '', code: '', param: '' }],
  ])('are read from %j', (body, expected) => expect(readError(body)).toEqual(expected));

  it('are left out if they quote a prompt, and lose what looks like a key', () => {
    const secrets = { prompts: ['my secret diary entry of monday', 'pin 1234'], key: 'abcdefgh9876' };
    expect(quotable('model is loading', secrets)).toBe('It says: model is loading');
    expect(quotable('bad input: "secret diary entry of m"', secrets)).toBe('');
    expect(quotable('cannot read: pin 1234', secrets)).toBe('');
    expect(quotable('Incorrect API key provided: ****9876', secrets)).toBe('It says: Incorrect API key provided: …');
    expect(quotable('key sk-proj-123456 unknown', secrets)).toBe('It says: key … unknown');
    expect(quotable('Bearer abc1234567 and key="abcdefgh9876" are wrong', secrets)).toBe('It says: Bearer … and key="… are wrong');
    expect(quotable('An API key required for gh9876!', secrets)).toBe('It says: An API key required for …');
  });
});

describe('models by name', () => {
  it.each([
    ['gpt-5-mini', 'chat'],
    ['qwen3:8b', 'chat'],
    ['meta-llama/Llama-3.3-70B-Instruct', 'chat'],
    ['text-embedding-3-small', 'embedding'],
    ['nomic-embed-text:latest', 'embedding'],
    ['BAAI/bge-m3', 'embedding'],
    ['all-minilm:33m', 'embedding'],
    ['BAAI/bge-reranker-v2-m3', 'other'],
    ['whisper-1', 'other'],
    ['gpt-4o-realtime-preview', 'other'],
    ['omni-moderation-latest', 'other'],
    ['dall-e-3', 'other'],
    ['davinci-002', 'other'],
  ])('%s is %s', (name, kind) => expect(kindByName(name)).toBe(kind));
});

describe("Ollama's context", () => {
  const show = (parameters: string | undefined): Record<string, unknown> => ({
    model_info: { 'qwen3.context_length': 40_960 },
    parameters,
    capabilities: ['completion'],
  });
  it('is the one that the server uses, with the exact remedy when it cuts prompts', () => {
    const real = ollamaContext('qwen3:8b', show(undefined), null);
    expect(real.context).toBe(4_096);
    expect(real.warning).toContain('OLLAMA_CONTEXT_LENGTH=32768');
    expect(ollamaContext('m', show('num_ctx                        16384\nstop "x"'), null).context).toBe(16_384);
    expect(ollamaContext('m', show('num_ctx 99999'), null)).toEqual({
      context: 40_960,
      kind: null,
      opensThinking: null,
      sees: false,
      warning: null,
    });
    expect(ollamaContext('m', show(undefined), 8_192).context).toBe(8_192);
  });
  it('recognises an embedding model by its capabilities', () =>
    expect(ollamaContext('m', { capabilities: ['embedding'] }, null).kind).toBe('embedding'));
});

describe('the token estimate', () => {
  it('counts four ASCII characters or one other as a token', () => {
    expect(estimateTokens('')).toBe(0);
    expect(estimateTokens('four char')).toBe(3);
    expect(estimateTokens('日本語')).toBe(3);
  });
});
