import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { Reranker } from '@conclave/ports';
import { describeReranker } from '@conclave/ports/suites';
import { bare, closing, failureOf } from './__fixtures__/servers.js';
import type { ProviderConfig } from './configuration.js';
import { openReranker } from './reranker.js';

const { signal } = new AbortController();
const send = (response: ServerResponse, body: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

type Body = Readonly<Record<string, unknown>>;
type Handle = (asked: Body, response: ServerResponse, request: IncomingMessage) => void;
async function open(handle: Handle, provider: Partial<ProviderConfig> = {}): Promise<Reranker> {
  const base_url = await bare((request, response, body) => handle(JSON.parse(body) as Body, response, request));
  const reranker = openReranker({
    name: 'p',
    model: 'm',
    provider: { base_url, local: false, paid: false, ...provider },
    retry: { base_ms: 1, cap_ms: 5 },
  });
  closing.push(() => reranker.close());
  return reranker;
}

/** Scores by shared words, as a server that reads both would rank them roughly. */
const ranked = (query: string, texts: readonly string[]) =>
  texts
    .map((text, index) => ({ index, score: query.split(/\W+/u).filter((word) => word !== '' && text.includes(word)).length }))
    .sort((a, b) => b.score - a.score);
const byDocuments: Handle = ({ query, documents }, response) =>
  send(response, {
    results: ranked(query as string, documents as string[]).map(({ index, score }) => ({ index, relevance_score: score })),
  });

describeReranker('RerankEndpoint', async () => ({ reranker: await open(byDocuments), dispose: async () => undefined }));

describe('an endpoint for reranking', () => {
  it('receives all documents at /rerank of its base URL, with the key and no other private data', async () => {
    const calls: unknown[] = [];
    const reranker = await open(
      (asked, response, { url, headers }) => {
        calls.push([url, headers.authorization, asked]);
        byDocuments(asked, response, undefined as never);
      },
      { api_key: 'k-123' },
    );
    expect(reranker.id).toBe('m@p');
    expect(await reranker.score('tower', ['lake', 'tower', ' '], { signal })).toEqual([0, 1, 0]);
    expect(calls).toEqual([
      ['/v1/rerank', 'Bearer k-123', { model: 'm', query: 'tower', documents: ['lake', 'tower', '(empty)'], top_n: 3 }],
    ]);
  });

  it.each([
    ['a plain error', (response: ServerResponse) => void response.writeHead(422).end('Failed to deserialize: missing field `texts`')],
    [
      'a list of faults',
      (response: ServerResponse) => send(response, { detail: [{ type: 'missing', loc: ['body', 'texts'], msg: 'Field required' }] }, 422),
    ],
  ])('receives texts in the form it accepts from then on: %s', async (_, refuse) => {
    const asked: string[][] = [];
    const reranker = await open((body, response) => {
      asked.push(Object.keys(body));
      if (!body['texts']) return refuse(response);
      send(response, ranked(body['query'] as string, body['texts'] as string[]));
    });
    for (let n = 0; n < 2; n += 1) expect(await reranker.score('tower', ['lake', 'tower'], { signal })).toEqual([0, 1]);
    expect(asked).toEqual([
      ['model', 'query', 'documents', 'top_n'],
      ['query', 'texts', 'truncate'],
      ['query', 'texts', 'truncate'],
    ]);
  });

  it('may leave texts out, which then rank last', async () => {
    const reranker = await open((_, response) => send(response, { results: [{ index: 2, relevance_score: -3.5 }] }));
    expect(await reranker.score('tower', ['a', 'b', 'c'], { signal })).toEqual([-4.5, -4.5, -3.5]);
  });

  it.each([
    ['nothing', {}],
    ['no results', { results: [] }],
    ['a result of no text', { results: [{ index: 7, relevance_score: 1 }] }],
    [
      'two results of a text',
      {
        results: [
          { index: 0, relevance_score: 1 },
          { index: 0, relevance_score: 2 },
        ],
      },
    ],
    ['a result without a number', { results: [{ index: 0, relevance_score: 'high' }] }],
  ])('fails with an unusable reply: %s', async (_, body) => {
    const reranker = await open((_asked, response) => send(response, body));
    expect((await failureOf(reranker.score('tower', ['a', 'b'], { signal }))).code).toBe('PROVIDER_REPLY_INVALID');
  });

  it('is retried when that can help, and fails without quoting the texts', async () => {
    let calls = 0;
    const flaky = await open((asked, response) => {
      calls += 1;
      if (calls === 1) return send(response, { error: { message: 'busy' } }, 503);
      byDocuments(asked, response, undefined as never);
    });
    expect(await flaky.score('tower', ['tower'], { signal })).toEqual([1]);
    const refusing = await open((asked, response) => send(response, { error: { message: `bad: ${String(asked['documents'])}` } }, 400));
    const failure = await failureOf(refusing.score('tower', ['the secret text of a tenant'], { signal }));
    expect([failure.code, failure.message.includes('secret')]).toEqual(['PROVIDER_REFUSED', false]);
  });

  it('is abandoned when the call is cancelled or the reranker closes', async () => {
    const left: Promise<void>[] = [];
    let arrived: () => void;
    const handle: Handle = (_, response) => {
      left.push(new Promise((resolve) => response.on('close', resolve)));
      arrived();
    };
    for (const end of ['cancel', 'close']) {
      const asked = new Promise<void>((resolve) => (arrived = resolve));
      const reranker = await open(handle);
      const stop = new AbortController();
      const call = failureOf(reranker.score('tower', ['a'], { signal: stop.signal }));
      await asked;
      if (end === 'cancel') stop.abort();
      else await reranker.close();
      expect((await call).code).toBe('CALL_CANCELLED');
    }
    await Promise.all(left);
  });
});

describe('a server whose model reads shorter texts', () => {
  it.each<[string, number, object]>([
    [
      'llama.cpp',
      500,
      { error: { code: 500, message: 'input is too large to process. increase the physical batch size', type: 'server_error' } },
    ],
    [
      'vLLM',
      400,
      { object: 'error', message: "This model's maximum context length is 512 tokens. However, you requested 900 tokens.", code: 400 },
    ],
  ])('gets the beginning of long ones, from the next request on at once: %s', async (_name, status, body) => {
    const lengths: number[] = [];
    const reranker = await open((asked, response, request) => {
      const longest = Math.max(...(asked['documents'] as string[]).map(({ length }) => length));
      lengths.push(longest);
      if (longest > 1_000) send(response, body, status);
      else byDocuments(asked, response, request);
    });
    const texts = ['lake', `tower ${'x'.repeat(3_000)}`];
    expect(await reranker.score('tower', texts, { signal })).toEqual([0, 1]);
    expect(await reranker.score('tower', texts, { signal })).toEqual([0, 1]);
    expect(lengths).toEqual([3_006, 1_503, 751, 751]);
  });
});
