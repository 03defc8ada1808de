import { describe, expect, it } from '@jest/globals';
import { ask, bare, open, watch } from './__fixtures__/servers.js';

/** A server with this list of models, and the models that it was asked for. */
async function listing(list: unknown): Promise<{ readonly url: string; readonly called: string[] }> {
  const called: string[] = [];
  const url = await bare((request, response, body) => {
    if (request.method === 'POST') called.push((JSON.parse(body) as { model: string }).model);
    const answer = { choices: [{ index: 0, message: { content: 'hi' }, finish_reason: 'stop' }] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(request.method === 'POST' ? answer : list));
  });
  return { url, called };
}
const kinds = async (list: unknown): Promise<readonly string[]> =>
  (await open((await listing(list)).url).list()).map(({ model, kind }) => `${model} ${kind}`);

describe('models that cannot chat', () => {
  it('are left out of the bare list of Together, which names their type', async () => {
    const together = [
      { id: 'a/chat', type: 'chat', context_length: 8_192 },
      { id: 'a/vectors', type: 'embedding' },
      { id: 'a/pictures', type: 'image' },
      { id: 'a/voice', type: 'audio' },
    ];
    expect(await kinds(together)).toEqual(['a/chat chat', 'a/vectors embedding']);
  });

  it('are left out of the lists of Mistral and Fireworks, which say what a model can do', async () => {
    const capabilities = (completion_chat: boolean) => ({ capabilities: { completion_chat, function_calling: false } });
    const mistral = [
      { id: 'mistral-small', ...capabilities(true) },
      { id: 'mistral-embed', ...capabilities(false) },
      { id: 'mistral-ocr', ...capabilities(false) },
    ];
    expect(await kinds({ data: mistral })).toEqual(['mistral-small chat', 'mistral-embed embedding']);
    const fireworks = [
      { id: 'a/b', supports_chat: false },
      { id: 'a/c', supports_chat: true },
    ];
    expect(await kinds({ data: fireworks })).toEqual(['a/c chat']);
  });
});

describe('names with an @', () => {
  it('are listed and called as they are: LM Studio has them for each quantization, Cloudflare for each model', async () => {
    const ids = ['qwen2.5-7b@q4_k_m', '@cf/meta/llama-3.1-8b-instruct'];
    const { url, called } = await listing({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) });
    const models = open(url);
    const refs = (await models.list()).map(({ ref }) => ref);
    expect(refs).toEqual(['qwen2.5-7b@q4_k_m@p', '@cf/meta/llama-3.1-8b-instruct@p']);
    for (const model of refs) await models.call(ask('hello', { model }), watch());
    expect(called).toEqual(ids);
  });
});
