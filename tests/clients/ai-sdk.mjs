import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, embedMany, generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import * as z from 'zod';
import { address, apiKey, check, counted, endless, failureOf, models, question, said, tell, town, versionOf } from './capabilities.mjs';

const options = { name: 'conclave', baseURL: `${address}/v1`, apiKey, includeUsage: true, supportsStructuredOutputs: true };
const provider = createOpenAICompatible(options);
tell({ client: 'Vercel AI SDK', version: versionOf('ai') });

await check('chat', async () => {
  const { text, finishReason, usage } = await generateText({ model: provider(models.template), prompt: question() });
  assert.deepEqual([text, finishReason], [said, 'stop']);
  assert.ok(usage.totalTokens > 0);
});
await check('chat, streamed', async () => {
  const result = streamText({ model: provider(models.template), prompt: question() });
  let text = '';
  for await (const part of result.textStream) text += part;
  assert.equal(text, said);
  assert.ok((await result.usage).totalTokens > 0);
});
const roundTrip = async (model) => {
  const called = [];
  const execute = async (args) => (called.push(args), 'rain');
  const tools = { get_weather: tool({ inputSchema: z.object({ town: z.string() }), execute }) };
  const asked = () => ({ model: provider(model), prompt: question(), tools, stopWhen: stepCountIs(3) });
  assert.equal((await generateText(asked())).text, said);
  assert.equal(await streamText(asked()).text, said);
  assert.deepEqual(called, [{ town }, { town }]);
};
await check('tools, template', () => roundTrip(models.passing));
await check('tools, asked first', () => roundTrip(models.asking));
await check('tools, direct', () => roundTrip(models.direct));
await check('structured output', async () => {
  for (const model of [models.template, models.direct]) {
    const { object } = await generateObject({ model: provider(model), prompt: question(), schema: z.object({ town: z.string() }) });
    assert.deepEqual(object, { town });
  }
});
const statusOf = async (promise) => {
  const error = await failureOf(promise);
  assert.ok(APICallError.isInstance(error), String(error));
  return error.statusCode;
};
await check('errors', async () => {
  const ask = (model, rest = {}) => statusOf(generateText({ model, prompt: 'x', ...rest }));
  const stranger = createOpenAICompatible({ ...options, apiKey: 'sk-nobody' });
  const found = [ask(provider('no-such')), ask(stranger(models.template)), ask(provider(models.template), { temperature: 9 })];
  assert.deepEqual(await Promise.all(found), [404, 401, 400]);
});
await check('no useless retry', async () => {
  const [requests, fetch] = counted();
  const stranger = createOpenAICompatible({ ...options, apiKey: 'sk-nobody', fetch });
  await failureOf(generateText({ model: stranger(models.template), prompt: 'x', maxRetries: 3 }));
  assert.equal(requests.count, 1);
});
await check('abort', async () => {
  const control = new AbortController();
  const result = streamText({ model: provider(models.direct), prompt: question(endless), abortSignal: control.signal });
  const kinds = [];
  for await (const { type } of result.fullStream) {
    kinds.push(type);
    if (type === 'text-delta') control.abort();
  }
  assert.ok(kinds.includes('abort'), kinds.join());
});
await check('embeddings', async () => {
  const { embeddings } = await embedMany({ model: provider.embeddingModel('conclave-embedding'), values: ['rain', 'sun'] });
  assert.ok(embeddings.length === 2 && embeddings[0].length > 10);
});
