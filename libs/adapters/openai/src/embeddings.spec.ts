import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Usage } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import { describeEmbedder } from '@conclave/ports/suites';
import type { Embedder } from '@conclave/ports';
import { bare, closing, codeOf, failureOf } from './__fixtures__/servers.js';
import { openEmbeddings, type EmbeddingsConfig } from './embeddings.js';

interface EmbeddingRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly encoding_format: string;
  readonly dimensions?: number;
}
const { signal } = new AbortController();

/** A vector that differs for each text. */
const numbersOf = (text: string, dimension: number): readonly number[] =>
  Array.from(
    { length: dimension },
    (_, at) => [...text].reduce((sum, character, n) => (sum * 31 + character.codePointAt(0)! * (n + at + 1)) % 1009, at + 1) + 1,
  );

const dataOf = (input: readonly string[], dimension: number) =>
  input.map((text, index) => ({ object: 'embedding', index, embedding: numbersOf(text, dimension) }));
const send = (response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

type Handle = (asked: EmbeddingRequest, response: ServerResponse, request: IncomingMessage, call: number) => void;
async function open(
  handle: Handle,
  rest: Partial<EmbeddingsConfig> = {},
  provider: Partial<EmbeddingsConfig['provider']> = {},
): Promise<Embedder> {
  let call = 0;
  const base_url = await bare((request, response, body) => {
    if (request.url!.endsWith('/models')) return send(response, { data: [] });
    handle(JSON.parse(body) as EmbeddingRequest, response, request, (call += 1));
  });
  const embedder = openEmbeddings({
    name: 'p',
    model: 'm',
    provider: { base_url, local: false, paid: false, ...provider },
    retry: { base_ms: 1, cap_ms: 5 },
    ...rest,
  });
  closing.push(() => embedder.close());
  return embedder;
}
const well: Handle = ({ input, dimensions }, response) => send(response, { data: dataOf(input, dimensions ?? 6) });

describeEmbedder('EmbeddingsEndpoint', async () => {
  const base_url = await bare((request, response, body) =>
    request.url!.endsWith('/models')
      ? send(response, { data: [] })
      : send(response, { data: dataOf((JSON.parse(body) as EmbeddingRequest).input, 6) }),
  );
  const opened = (): Embedder => openEmbeddings({ name: 'p', model: 'm', provider: { base_url, local: false, paid: false } });
  return { embedder: opened(), another: async () => opened(), dispose: async () => undefined };
});

describe('an endpoint for embeddings', () => {
  it('receives requests for plain numbers, in batches, with the key and no other private data', async () => {
    const calls: { asked: EmbeddingRequest; authorization: unknown }[] = [];
    const embedder = await open(
      (asked, response, request, call) => {
        calls.push({ asked, authorization: request.headers.authorization });
        well(asked, response, request, call);
      },
      { batch: 2 },
      { api_key: 'k-123' },
    );
    await embedder.embed(['a', '', 'c\ud800'], { signal });
    expect(calls).toEqual([
      { asked: { model: 'm', input: ['a', '(empty)'], encoding_format: 'float' }, authorization: 'Bearer k-123' },
      { asked: { model: 'm', input: ['c\ufffd'], encoding_format: 'float' }, authorization: 'Bearer k-123' },
    ]);
  });

  it('reports what each request cost, as the server counted it or else estimated', async () => {
    const paid: Usage[] = [];
    const usage = { prompt_tokens: 1_000 };
    const embedder = await open(
      ({ input }, response) => send(response, { data: dataOf(input, 6), ...(input.length > 1 ? { usage } : {}) }),
      { batch: 2, price: { input: 2, output: 0 } },
    );
    await embedder.embed(['a', 'b', 'four'], { signal, onUsage: (one) => void paid.push(one) });
    expect(paid).toMatchObject([
      { calls: 1, prompt: 1_000, cost: 0.002, estimated: false },
      { calls: 1, prompt: 1, cost: 0.000002, estimated: true },
    ]);
  });

  it('has an id of model and provider, and learns its dimension from the first reply', async () => {
    const embedder = await open(well);
    expect([embedder.id, embedder.dimension]).toEqual(['m@p', null]);
    await embedder.embed(['a'], { signal });
    expect(embedder.dimension).toBe(6);
    const shortened = await open(well, { dimensions: 4 });
    expect([shortened.id, shortened.dimension]).toEqual(['m@p.4', 4]);
    expect((await shortened.embed(['a'], { signal }))[0]).toHaveLength(4);
  });

  it('puts vectors in order by index, and reads base64', async () => {
    const plain = await open(well);
    const [a, b] = await plain.embed(['a', 'b'], { signal });
    const shuffled = await open(({ input }, response) => send(response, { data: dataOf(input, 6).reverse() }));
    expect(await shuffled.embed(['a', 'b'], { signal })).toEqual([a, b]);
    const packed = await open(({ input }, response) =>
      send(response, {
        data: input.map((text) => ({ embedding: Buffer.from(Float32Array.from(numbersOf(text, 6)).buffer).toString('base64') })),
      }),
    );
    expect(await packed.embed(['a', 'b'], { signal })).toEqual([a, b]);
  });

  it('fails when the dimension changes between replies, or is not the requested one', async () => {
    const changing = await open(({ input }, response, _, call) => send(response, { data: dataOf(input, call + 2) }));
    await changing.embed(['a'], { signal });
    expect(await failureOf(changing.embed(['b'], { signal }))).toMatchObject({
      code: 'VECTORS_INCOMPATIBLE',
      detail: expect.stringContaining('4 numbers instead of 3'),
    });
    const stubborn = await open(({ input }, response) => send(response, { data: dataOf(input, 6) }), { dimensions: 4 });
    expect(await codeOf(stubborn.embed(['a'], { signal }))).toBe('VECTORS_INCOMPATIBLE');
  });

  it.each<[string, unknown]>([
    ['no data', {}],
    ['too few', { data: [] }],
    ['no numbers', { data: [{ embedding: ['1'] }] }],
    ['an empty vector', { data: [{ embedding: [] }] }],
    ['a vector without direction', { data: [{ embedding: [0, 0] }] }],
    ['an index of no text', { data: [{ index: 7, embedding: [1] }] }],
    ['cut base64', { data: [{ embedding: 'AAA=' }] }],
    ['a text', 'hello'],
  ])('is rejected when it sends %s', async (_, body) => {
    const embedder = await open((_asked, response) => send(response, body));
    expect(await codeOf(embedder.embed(['a'], { signal }))).toBe('PROVIDER_REPLY_INVALID');
  });

  it('is retried after 429 and 5xx, after the time in Retry-After, and not after 401', async () => {
    const at: number[] = [];
    const embedder = await open((asked, response, request, call) => {
      at.push(performance.now());
      if (call === 1) return send(response, { error: { message: 'slow down' } }, 429, { 'retry-after-ms': '60' });
      if (call === 2) return send(response, { error: { message: 'oops' } }, 503);
      return well(asked, response, request, call);
    });
    expect(await embedder.embed(['a'], { signal })).toHaveLength(1);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(58);
    let calls = 0;
    const refused = await open((_, response) => {
      calls += 1;
      send(response, { error: { message: 'bad key' } }, 401);
    });
    expect(await codeOf(refused.embed(['a'], { signal }))).toBe('PROVIDER_UNAUTHENTICATED');
    expect(calls).toBe(1);
  });

  it('fails after a bounded number of attempts, and quotes neither texts nor key', async () => {
    let calls = 0;
    const secret = 'the secret text of somebody';
    const embedder = await open(
      ({ input }, response) => {
        calls += 1;
        send(response, { error: { message: `cannot embed ${input[0]}` } }, 500);
      },
      { retry: { attempts: 3, base_ms: 1, cap_ms: 2 } },
    );
    const failure = await failureOf(embedder.embed([secret], { signal }));
    expect(failure.code).toBe('PROVIDER_FAILED');
    expect(failure.message).not.toContain('secret');
    expect(calls).toBe(3);
  });

  it('is abandoned when the caller cancels, when it is closed, and when it takes too long', async () => {
    const leaving = new AbortController();
    const hanging = await open(() => leaving.abort());
    expect(await codeOf(hanging.embed(['a'], { signal: leaving.signal }))).toBe('CALL_CANCELLED');
    const closed = await open(() => void closed.close());
    expect(await codeOf(closed.embed(['a'], { signal }))).toBe('CALL_CANCELLED');
    expect(await closed.health()).toContain('closed');
    const slow = await open(() => undefined, {}, { timeout_ms: 50 });
    expect(await codeOf(slow.embed(['a'], { signal }))).toBe('CALL_TIMEOUT');
  });

  it('is unhealthy and unreachable when nothing listens', async () => {
    const gone = openEmbeddings({
      name: 'p',
      model: 'm',
      provider: { base_url: 'http://127.0.0.1:9/v1', local: true, paid: false },
      retry: { attempts: 1 },
    });
    expect(await gone.health()).toContain('p');
    expect(await codeOf(gone.embed(['a'], { signal }))).toBe('PROVIDER_UNREACHABLE');
  });
});

describe('a server that takes fewer or shorter texts', () => {
  const refusing = async (refusal: (input: readonly string[]) => object | null, status: number) => {
    const asked: (readonly string[])[] = [];
    const embedder = await open((request, response, ...rest) => {
      asked.push(request.input);
      const refused = refusal(request.input);
      if (refused) send(response, refused, status);
      else well(request, response, ...rest);
    });
    return { embedder, asked };
  };
  const many = Array.from({ length: 64 }, (_, at) => `text ${at}`);

  it.each<[string, number, object, number]>([
    ['TEI', 413, { error: 'batch size 64 > maximum allowed batch size 32', error_type: 'validation' }, 32],
    ['Alibaba', 400, { error: { message: 'Value error, batch size is invalid, it should not be larger than 10.: input.contents' } }, 10],
    [
      'Gemini',
      400,
      [{ error: { code: 400, message: '* BatchEmbedContentsRequest.requests: at most 25 requests can be in one batch' } }],
      25,
    ],
  ])('gets smaller batches, from the next request on at once: %s', async (_name, status, body, most) => {
    const { embedder, asked } = await refusing((input) => (input.length > most ? body : null), status);
    const vectors = await embedder.embed(many, { signal });
    const alone = await (await open(well)).embed(many, { signal });
    expect(vectors).toEqual(alone);
    asked.length = 0;
    await embedder.embed(many, { signal });
    expect(asked.every((input) => input.length <= most)).toBe(true);
  });

  it.each<[string, number, object]>([
    [
      'llama.cpp',
      500,
      {
        error: { code: 500, message: 'input (992 tokens) is too large to process. increase the physical batch size', type: 'server_error' },
      },
    ],
    ['TEI', 413, { error: 'Input validation error: `inputs` must have less than 512 tokens. Given: 992', error_type: 'Validation' }],
    [
      'vLLM',
      400,
      { object: 'error', message: "This model's maximum context length is 512 tokens. However, you requested 992 tokens.", code: 400 },
    ],
  ])('gets the beginning of a text that is too long for its model, and all others whole: %s', async (_name, status, body) => {
    const { embedder, asked } = await refusing((input) => (input.some((text) => text.length > 1_000) ? body : null), status);
    const vectors = await embedder.embed(['short', 'x'.repeat(3_000), 'other'], { signal });
    expect(vectors).toHaveLength(3);
    expect(asked.at(-2)).toEqual(['x'.repeat(750)]);
    expect(asked.at(-1)).toEqual(['other']);
    asked.length = 0;
    await embedder.embed(['a', 'b', 'c'], { signal });
    expect(asked).toEqual([['a', 'b', 'c']]);
  });

  it('is not asked for ever', async () => {
    const { embedder, asked } = await refusing(() => ({ error: { message: 'batch of the wrong kind' } }), 400);
    expect(await codeOf(embedder.embed(['a', 'b', 'x'.repeat(900)], { signal }))).toBe('PROVIDER_REFUSED');
    expect(asked).toEqual([['a', 'b', 'x'.repeat(900)], ['a', 'b'], ['a']]);
  });
});
