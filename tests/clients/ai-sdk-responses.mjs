import assert from 'node:assert/strict';
import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from 'ai';
import * as z from 'zod';
import { address, apiKey, check, counted, endless, failureOf, models, question, said, tell, town, versionOf } from './capabilities.mjs';

/** The provider for OpenAI, which uses the Responses API by default, and the one for any server with this API. */
const providers = (rest = {}) => [
  createOpenAI({ baseURL: `${address}/v1`, apiKey, ...rest }),
  createOpenResponses({ name: 'conclave', url: `${address}/v1/responses`, apiKey, ...rest }),
];
tell({ client: 'Vercel AI SDK (Responses)', version: versionOf('@ai-sdk/openai') });

await check('responses', async () => {
  for (const provider of providers()) {
    const model = provider(models.template);
    const { text, finishReason, usage, response } = await generateText({ model, prompt: question() });
    assert.deepEqual([text, finishReason], [said, 'stop']);
    assert.ok(usage.totalTokens > 0);
    const messages = [{ role: 'user', content: question() }, ...response.messages, { role: 'user', content: question() }];
    const result = streamText({ model, messages });
    assert.equal(await result.text, said);
    assert.ok((await result.usage).totalTokens > 0);
  }
});
await check('responses, tools', async () => {
  for (const provider of providers())
    for (const model of [models.passing, models.asking, models.direct]) {
      const called = [];
      const execute = async (args) => (called.push(args), 'rain');
      const tools = { get_weather: tool({ inputSchema: z.object({ town: z.string() }), execute }) };
      const asked = { model: provider(model), tools, stopWhen: stepCountIs(3) };
      const first = await generateText({ ...asked, prompt: question() });
      assert.equal(first.text, said);
      // The second turn names the answers of the first one.
      const messages = [{ role: 'user', content: question() }, ...first.response.messages, { role: 'user', content: question() }];
      assert.equal(await streamText({ ...asked, messages }).text, said);
      assert.deepEqual(called, [{ town }, { town }]);
    }
});
await check('structured output', async () => {
  for (const provider of providers())
    for (const model of [models.template, models.direct]) {
      const output = Output.object({ schema: z.object({ town: z.string() }) });
      assert.deepEqual((await generateText({ model: provider(model), prompt: question(), output })).output, { town });
    }
});
await check('errors', async () => {
  const statusOf = async (model, rest = {}) => {
    const error = await failureOf(generateText({ model, prompt: 'x', ...rest }));
    assert.ok(APICallError.isInstance(error), String(error));
    return error.statusCode;
  };
  const strangers = providers({ apiKey: 'sk-nobody' });
  for (const [n, provider] of providers().entries()) {
    const tried = [
      statusOf(provider('no-such')),
      statusOf(strangers[n](models.template)),
      statusOf(provider(models.template), { temperature: 9 }),
    ];
    assert.deepEqual(await Promise.all(tried), [404, 401, 400]);
  }
});
await check('no useless retry', async () => {
  const [requests, fetch] = counted();
  for (const provider of providers({ apiKey: 'sk-nobody', fetch }))
    await failureOf(generateText({ model: provider(models.template), prompt: 'x', maxRetries: 3 }));
  assert.equal(requests.count, 2);
});
await check('abort', async () => {
  for (const provider of providers()) {
    const control = new AbortController();
    const result = streamText({ model: provider(models.direct), prompt: question(endless), abortSignal: control.signal });
    const kinds = [];
    for await (const { type } of result.fullStream) {
      kinds.push(type);
      if (type === 'text-delta') control.abort();
    }
    assert.ok(kinds.includes('abort'), kinds.join());
  }
});
