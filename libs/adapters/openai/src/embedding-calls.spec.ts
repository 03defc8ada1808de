import { describe, expect, it } from '@jest/globals';
import type { Models } from '@conclave/ports';
import { bare, closing, codeOf, failureOf } from './__fixtures__/servers.js';
import { openProviders } from './providers.js';

const { signal } = new AbortController();

/** Models whose server replies with `answer`, and the bodies of its requests in order. */
async function open(answer: (body: { readonly input: readonly string[] }) => readonly [status: number, body: unknown]) {
  const bodies: unknown[] = [];
  const base_url = await bare((_request, response, text) => {
    const body = JSON.parse(text) as { input: readonly string[] };
    bodies.push(body);
    const [status, reply] = answer(body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  });
  const models: Models = openProviders({
    providers: { p: { base_url, local: false, paid: true } },
    models: { 'm@p': { price: { input: 2, output: 9 } } },
    retry: { attempts: 2, base_ms: 1, cap_ms: 2 },
  });
  closing.push(() => models.close());
  return { embed: models.embed!.bind(models), bodies };
}
const data = (input: readonly string[]) => input.map((text, index) => ({ index, embedding: [text.length, 3] }));

describe('a request of a client for embeddings', () => {
  it('is passed on unchanged, and returns the vectors of the server, its usage and their price', async () => {
    const { embed, bodies } = await open(({ input }) => [200, { model: 'm-1', data: data(input), usage: { prompt_tokens: 500_000 } }]);
    const reply = await embed({ model: 'm@p', input: ['a', ''], dimensions: 2 }, { signal });
    expect(bodies).toEqual([{ model: 'm', input: ['a', ''], encoding_format: 'float', dimensions: 2 }]);
    // Unlike those of collections, these vectors are not scaled to length 1.
    expect(reply.vectors.map((vector) => [...vector])).toEqual([
      [1, 3],
      [0, 3],
    ]);
    expect(reply).toMatchObject({ reportedModel: 'm-1', usage: { calls: 1, prompt: 500_000, cost: 1, estimated: false } });
  });

  it('sends tokens unchanged, and their number is its estimated usage', async () => {
    const { embed, bodies } = await open(({ input }) => [200, { data: data(input) }]);
    const { usage } = await embed({ model: 'm@p', input: [[7, 8], [9]] }, { signal });
    expect([bodies, usage.prompt, usage.estimated]).toEqual([[{ model: 'm', input: [[7, 8], [9]], encoding_format: 'float' }], 3, true]);
  });

  it('has estimated usage if the server counts none', async () => {
    const { embed } = await open(({ input }) => [200, { data: data(input) }]);
    expect((await embed({ model: 'm@p', input: ['a sentence'] }, { signal })).usage).toMatchObject({ prompt: 3, estimated: true });
  });

  it('that the server refuses fails with its message, and an unknown provider is reported as an unknown model', async () => {
    const { embed } = await open(() => [400, { error: { message: 'dimensions are not supported', param: 'dimensions' } }]);
    const failure = await failureOf(embed({ model: 'm@p', input: ['a'], dimensions: 9 }, { signal }));
    expect(failure.options.upstream).toMatchObject({ status: 400, message: 'dimensions are not supported', param: 'dimensions' });
    expect(await codeOf(embed({ model: 'm@nobody', input: ['a'] }, { signal }))).toBe('MODEL_NOT_FOUND');
  });
});
