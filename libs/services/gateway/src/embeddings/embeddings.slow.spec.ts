import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CallRecorded, Failure, KeyLimits, noUsage, type Usage } from '@conclave/contracts';
import type { Embedder } from '@conclave/ports';
import { until } from '@conclave/test-support';
import OpenAI from 'openai';
import { twoTenants, World } from '../__fixtures__/world.js';
import type { ApiKeys } from '../options.js';

/** Two numbers per text. */
const embedder: Embedder = {
  id: 'words-1',
  dimension: 2,
  embed: async (texts) => texts.map((text) => Float32Array.of(text.length % 2, 1)),
  health: async () => null,
  close: async () => undefined,
};

let world: World;
let client: OpenAI;
beforeEach(async () => {
  world = await World.open({ parts: { embedder }, limits: { maxEmbeddingTexts: 3 } });
  client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
});
afterEach(() => world.close());

const recorded = (): CallRecorded[] => world.events<CallRecorded>('audit').filter(({ data }) => data.purpose === 'embedding');

describe('embeddings through the OpenAI client', () => {
  it('use the embedder of the collections, as base64 and as numbers alike', async () => {
    // The client requests base64 by itself and decodes it.
    const packed = await client.embeddings.create({ model: 'conclave-embedding', input: ['ab', 'abc'] });
    const plain = await client.embeddings.create({ model: 'words-1', input: ['ab', 'abc'], encoding_format: 'float' });
    expect(packed.data.map(({ embedding }) => embedding)).toEqual([
      [0, 1],
      [1, 1],
    ]);
    expect(plain.data).toEqual(packed.data);
    expect(packed).toMatchObject({ object: 'list', model: 'conclave-embedding', usage: { prompt_tokens: 2, total_tokens: 2 } });
    expect(recorded()).toEqual([]);
  });

  it('of the collections are recorded and charged if a model server makes them', async () => {
    const counted: Usage = { ...noUsage, calls: 1, prompt: 11, cost: 0.25 };
    const served: Embedder = {
      ...{ ...embedder, id: 'e@served' },
      embed: async (texts, { signal, onUsage }) => {
        onUsage?.(counted);
        if (texts.includes('refused')) throw new Failure('PROVIDER_FAILED');
        onUsage?.(counted);
        return embedder.embed(texts, { signal });
      },
    };
    const limits = { ...KeyLimits.parse({}), tokens_per_day: 30 };
    const keys: ApiKeys = {
      identifyHash: async () => null,
      identify: async () => ({ keyId: 'static:sk', name: 'sk', tenant: 'a', actor: 'key_sk', role: 'user', limits }),
    };
    const limited = await World.open({ parts: { embedder: served }, keys });
    try {
      const own = new OpenAI({ baseURL: `${limited.url}/v1`, apiKey: 'sk', maxRetries: 0 });
      const { data, response } = await own.embeddings.create({ model: 'conclave-embedding', input: 'ab' }).withResponse();
      expect([data.usage.prompt_tokens, response.headers.get('x-conclave-cost')]).toEqual([22, '0.5']);
      await expect(own.embeddings.create({ model: 'e@served', input: 'refused' })).rejects.toMatchObject({ code: 'PROVIDER_FAILED' });
      const calls = () => limited.events<CallRecorded>('audit').map(({ data: call }) => call);
      await until('both records', () => calls().length === 2);
      expect(calls().map(({ model, status, usage: { calls: n, prompt, cost } }) => [model, status, n, prompt, cost])).toEqual([
        ['e@served', 'ok', 2, 22, 0.5],
        ['e@served', 'error', 1, 11, 0.25],
      ]);
      await expect(own.embeddings.create({ model: 'conclave-embedding', input: 'ab' })).rejects.toMatchObject({
        code: 'insufficient_quota',
      });
    } finally {
      await limited.close();
    }
  });

  it('use a model of a provider, with its usage, its cost and a record of the call', async () => {
    const { data, response } = await client.embeddings.create({ model: 'e@fake', input: 'abcd', dimensions: 3 }).withResponse();
    expect(data.data[0]!.embedding).toEqual([4, 0.5, -1]);
    expect(data.usage).toEqual({ prompt_tokens: 7, total_tokens: 7 });
    expect(response.headers.get('x-conclave-cost')).toBe('0.5');
    expect(world.models.embedded).toEqual([{ model: 'e@fake', input: ['abcd'], dimensions: 3 }]);
    await until('the record', () => recorded().length === 1);
    expect(recorded()[0]!.data).toMatchObject({ model: 'e@fake', status: 'ok', request: null, usage: { prompt: 7, cost: 0.5 } });
  });

  it('of the built-in embedder accept token ids and decode them to the text they stand for', async () => {
    const heard: string[] = [];
    const embed = embedder.embed.bind(embedder);
    const asked = await World.open({
      parts: { embedder: { ...embedder, embed: (texts, watch) => (heard.push(...texts), embed(texts, watch)) } },
    });
    // The official encoder shows which text the token ids stand for.
    const { Tiktoken } = await import('js-tiktoken/lite');
    const encoder = new Tiktoken((await import('js-tiktoken/ranks/cl100k_base')).default);
    const texts = ['Why is the sky blue?', 'Grüße aus 東京, 😀\n\tconst x = 1;'];
    const lists = texts.map((text) => encoder.encode(text));
    try {
      const own = new OpenAI({ baseURL: `${asked.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
      const several = await own.embeddings.create({ model: 'conclave-embedding', input: lists });
      const one = await own.embeddings.create({ model: 'words-1', input: lists[1]! });
      // The end-of-text token, and half of the last character of another text.
      await own.embeddings.create({ model: 'words-1', input: [[100_257], encoder.encode('東京😀').slice(0, -1)] });
      expect(heard).toEqual([...texts, texts[1], '<|endoftext|>', expect.stringMatching(/^東京\ufffd+$/)]);
      expect([several.data.length, one.data.length, several.usage.prompt_tokens > 0]).toEqual([2, 1, true]);
    } finally {
      await asked.close();
    }
  });

  it('are refused when a few token ids stand for more text than a request may hold', async () => {
    const { Tiktoken } = await import('js-tiktoken/lite');
    const [spaces] = new Tiktoken((await import('js-tiktoken/ranks/cl100k_base')).default).encode(' '.repeat(81));
    const asked = client.embeddings.create({ model: 'conclave-embedding', input: Array<number>(20_000).fill(spaces!) });
    await expect(asked).rejects.toMatchObject({
      status: 413,
      code: 'REQUEST_TOO_LARGE',
      message: expect.stringContaining('1048576 bytes of text'),
    });
  });

  it('of a model of a provider pass token ids on unchanged', async () => {
    await client.embeddings.create({ model: 'e@fake', input: [[15_339, 1_917], [9_906]] });
    await client.embeddings.create({ model: 'e@fake', input: [999_999, 1] });
    expect(world.models.embedded.map(({ input }) => input)).toEqual([[[15_339, 1_917], [9_906]], [[999_999, 1]]]);
  });

  it.each<[string, object, string, RegExp]>([
    ['a number that is not a token id', { input: [1, 2, 100_256] }, 'input[2]', /is not a token id of cl100k_base.*send the text itself/],
    ['a number that is not a token id in a list of lists', { input: [[1], [2, 9e15]] }, 'input[1][1]', /is not a token id of cl100k_base/],
    ['a fraction', { input: [[1, 2.5]] }, 'input[0][1]', /must be the number of a token/],
    ['a negative number', { input: [-1] }, 'input[0]', /must be the number of a token/],
    ['texts and numbers in one list', { input: ['a', 1] }, 'input[1]', /must be a text/],
    ['numbers and texts in one list', { input: [1, 'a'] }, 'input[1]', /must be the number of a token/],
    ['a list without tokens', { input: [[1], []] }, 'input[1]', /at least one token/],
    ['more lists than one request may have', { input: [[1], [2], [3], [4]] }, 'input', /At most 3 texts/],
    ['neither text nor numbers', { input: { text: 'a' } }, 'input', /must be a text, a list of texts, or numbers of tokens/],
    ['no text', { input: [] }, 'input', /at least one text/],
    ['more texts than one request may have', { input: ['a', 'b', 'c', 'd'] }, 'input', /At most 3 texts/],
    ['an unknown encoding format', { encoding_format: 'int8' }, 'encoding_format', /"float" or "base64"/],
    [
      'a length that the embedder does not support',
      { dimensions: 1 },
      'dimensions',
      /returns 2 numbers per text and does not shorten them/,
    ],
    ['a length that a model ignores', { model: 'e@fake', dimensions: 2 }, 'dimensions', /returns 3 numbers/],
  ])('are refused with a sentence for %s', async (_, over, param, sentence) => {
    const asked = client.embeddings.create({ model: 'conclave-embedding', input: 'a', ...over } as OpenAI.EmbeddingCreateParams);
    await expect(asked).rejects.toMatchObject({ status: 400, param, message: expect.stringMatching(sentence) });
  });

  it("name the embedding models when the model is not one, and pass on the server's error for a request", async () => {
    const other = client.embeddings.create({ model: 'conclave', input: 'a' });
    await expect(other).rejects.toMatchObject({ status: 404, code: 'model_not_found', message: expect.stringContaining('e@fake') });
    world.models.embeds = async () => {
      const upstream = { status: 400, message: 'too long', type: 'invalid_request_error', param: 'input', code: null };
      throw new Failure('PROVIDER_REFUSED', 'too long', { upstream });
    };
    await expect(client.embeddings.create({ model: 'e@fake', input: 'a' })).rejects.toMatchObject({ status: 400, param: 'input' });
    await until('the record', () => recorded().some(({ data }) => data.status === 'error'));
  });

  it('stop when their client disconnects', async () => {
    let stopped = false;
    world.models.embeds = (_, { signal }) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          stopped = true;
          reject(new Failure('CALL_CANCELLED'));
        }),
      );
    const leaving = new AbortController();
    const asked = client.embeddings.create({ model: 'e@fake', input: 'a' }, { signal: leaving.signal });
    await until('the call', () => world.models.embedded.length === 1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await until('the end of the call', () => stopped, { timeoutMs: 1_000 });
  });

  it('have a list of models of their own, so that no chat offers those', async () => {
    const ids = async (query: string) =>
      ((await (await fetch(`${world.url}/v1/models${query}`)).json()) as OpenAI.ModelsPage).data.map(({ id }) => id);
    expect(await ids('')).not.toContain('e@fake');
    expect(await ids('?kind=embedding')).toEqual(['conclave-embedding', 'e@fake']);
    expect((await client.models.retrieve('e@fake')).owned_by).toBe('fake');
    expect((await fetch(`${world.url}/v1/models?kind=other`)).status).toBe(400);
  });

  it('require a key where keys are required', async () => {
    const keyed = await World.open({ parts: { embedder }, keys: twoTenants });
    try {
      const body = { model: 'conclave-embedding', input: 'a' };
      expect((await keyed.post('/v1/embeddings', body)).status).toBe(401);
      expect((await keyed.post('/v1/embeddings', body, { headers: { 'x-api-key': 'sk-a' } })).status).toBe(200);
    } finally {
      await keyed.close();
    }
  });
});
