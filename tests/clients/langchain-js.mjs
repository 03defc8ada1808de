import assert from 'node:assert/strict';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { createAgent } from 'langchain';
import * as z from 'zod';
import { address, apiKey, check, counted, endless, failureOf, models, question, said, tell, town, versionOf } from './capabilities.mjs';

const configuration = { baseURL: `${address}/v1` };
const chat = (model, { fetch, ...rest } = {}) =>
  new ChatOpenAI({ model, apiKey, maxRetries: 0, streamUsage: true, ...rest, configuration: { ...configuration, fetch } });
tell({ client: 'LangChain.js', version: versionOf('langchain') });

await check('chat', async () => {
  const { content, usage_metadata } = await chat(models.template).invoke(question());
  assert.equal(content, said);
  assert.ok(usage_metadata.total_tokens > 0);
});
await check('chat, streamed', async () => {
  let text = '';
  for await (const chunk of await chat(models.template).stream(question())) text += chunk.content;
  assert.equal(text, said);
});
const roundTrip = async (model) => {
  const called = [];
  const weather = tool(async (args) => (called.push(args), 'rain'), {
    name: 'get_weather',
    description: 'The weather of a town',
    schema: z.object({ town: z.string() }),
  });
  const agent = createAgent({ model: chat(model), tools: [weather] });
  const asked = () => ({ messages: [{ role: 'user', content: question() }] });
  assert.equal((await agent.invoke(asked())).messages.at(-1).content, said);
  let text = '';
  for await (const [message] of await agent.stream(asked(), { streamMode: 'messages' })) if (message.type === 'ai') text += message.content;
  assert.equal(text, said);
  assert.deepEqual(called, [{ town }, { town }]);
};
await check('tools, template', () => roundTrip(models.passing));
await check('tools, asked first', () => roundTrip(models.asking));
await check('tools, direct', () => roundTrip(models.direct));
await check('structured output', async () => {
  for (const model of [models.template, models.direct]) {
    const structured = chat(model).withStructuredOutput(z.object({ town: z.string() }), { name: 'place', method: 'jsonSchema' });
    assert.deepEqual(await structured.invoke(question()), { town });
  }
});
await check('errors', async () => {
  const tried = [chat('no-such'), chat(models.template, { apiKey: 'sk-nobody' }), chat(models.template, { temperature: 9 })];
  const statuses = await Promise.all(tried.map(async (one) => (await failureOf(one.invoke('x'))).status));
  assert.deepEqual(statuses, [404, 401, 400]);
});
await check('no useless retry', async () => {
  const [requests, fetch] = counted();
  await failureOf(chat(models.template, { apiKey: 'sk-nobody', maxRetries: 3, fetch }).invoke('x'));
  assert.equal(requests.count, 1);
});
await check('abort', async () => {
  const control = new AbortController();
  const reading = (async () => {
    for await (const chunk of await chat(models.direct).stream(question(endless), { signal: control.signal }))
      if (chunk.content) control.abort();
  })();
  await failureOf(reading);
  assert.ok(control.signal.aborted);
});
await check('embeddings', async () => {
  const embeddings = new OpenAIEmbeddings({ model: 'conclave-embedding', apiKey, configuration });
  const vectors = await embeddings.embedDocuments(['rain', 'sun']);
  assert.ok(vectors.length === 2 && vectors[0].length > 10);
});
