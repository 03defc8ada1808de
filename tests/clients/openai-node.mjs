import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import { address, apiKey, check, counted, endless, failureOf, models, question, said, tell, town, versionOf } from './capabilities.mjs';

const options = { baseURL: `${address}/v1`, apiKey };
const client = new OpenAI(options);
const user = (content) => [{ role: 'user', content }];
const tools = [
  {
    type: 'function',
    function: { name: 'get_weather', parameters: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] } },
  },
];
tell({ client: 'openai-node', version: versionOf('openai') });

await check('chat', async () => {
  const { choices, usage } = await client.chat.completions.create({ model: models.template, messages: user(question()) });
  assert.deepEqual([choices[0].message.content, choices[0].finish_reason], [said, 'stop']);
  assert.ok(usage.total_tokens > 0);
});
await check('chat, streamed', async () => {
  let text = '';
  let tokens = 0;
  const asked = { model: models.template, messages: user(question()), stream: true, stream_options: { include_usage: true } };
  for await (const chunk of await client.chat.completions.create(asked)) {
    text += chunk.choices[0]?.delta.content ?? '';
    tokens += chunk.usage?.total_tokens ?? 0;
  }
  assert.equal(text, said);
  assert.ok(tokens > 0);
  const stream = client.chat.completions.stream({ model: models.template, messages: user(question()) });
  assert.equal((await stream.finalChatCompletion()).choices[0].message.content, said);
});
const roundTrip = async (model) => {
  const messages = user(question());
  const first = await client.chat.completions.create({ model, messages, tools });
  const { message, finish_reason } = first.choices[0];
  assert.deepEqual([finish_reason, JSON.parse(message.tool_calls[0].function.arguments)], ['tool_calls', { town }]);
  const results = [{ role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'rain' }];
  const second = await client.chat.completions.create({ model, messages: [...messages, message, ...results], tools });
  assert.equal(second.choices[0].message.content, said);
  const called = [];
  const run = client.chat.completions.runTools({
    ...{ model, messages: user(question()), stream: true },
    tools: [{ type: 'function', function: { ...tools[0].function, function: (args) => (called.push(args), 'rain'), parse: JSON.parse } }],
  });
  assert.equal(await run.finalContent(), said);
  assert.deepEqual(called, [{ town }]);
};
await check('tools, template', () => roundTrip(models.passing));
await check('tools, asked first', () => roundTrip(models.asking));
await check('tools, direct', () => roundTrip(models.direct));
await check('structured output', async () => {
  for (const model of [models.template, models.direct]) {
    const response_format = zodResponseFormat(z.object({ town: z.string() }), 'place');
    const { choices } = await client.chat.completions.parse({ model, messages: user(question()), response_format });
    assert.deepEqual(choices[0].message.parsed, { town });
  }
});
await check('errors', async () => {
  const unknown = await failureOf(client.chat.completions.create({ model: 'no-such', messages: user('x') }));
  assert.ok(unknown instanceof OpenAI.NotFoundError && unknown.code === 'model_not_found');
  const invalid = await failureOf(client.chat.completions.create({ model: models.template, messages: user('x'), temperature: 9 }));
  assert.ok(invalid instanceof OpenAI.BadRequestError && invalid.param === 'temperature');
  const stranger = new OpenAI({ ...options, apiKey: 'sk-nobody' });
  assert.ok((await failureOf(stranger.models.list())) instanceof OpenAI.AuthenticationError);
});
await check('no useless retry', async () => {
  const [requests, fetch] = counted();
  await failureOf(new OpenAI({ ...options, apiKey: 'sk-nobody', fetch, maxRetries: 3 }).models.list());
  assert.equal(requests.count, 1);
});
await check('repeated request', async () => {
  const asked = { model: models.template, messages: user(question()) };
  const headers = { 'idempotency-key': randomUUID() };
  const twice = [await client.chat.completions.create(asked, { headers }), await client.chat.completions.create(asked, { headers })];
  assert.equal(twice[0].id, twice[1].id);
});
await check('abort', async () => {
  const stream = client.chat.completions.stream({ model: models.direct, messages: user(question(endless)) });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
  stream.abort();
  assert.ok((await failureOf(stream.done())) instanceof OpenAI.APIUserAbortError);
});
await check('models', async () => {
  const ids = (await client.models.list()).data.map(({ id }) => id);
  for (const id of Object.values(models)) assert.ok(ids.includes(id), id);
  assert.equal((await client.models.retrieve(models.direct)).id, models.direct);
});
await check('embeddings', async () => {
  const { data } = await client.embeddings.create({ model: 'conclave-embedding', input: ['rain', 'sun'] });
  assert.ok(data.length === 2 && data[0].embedding.length > 10);
});
await check('completions', async () => {
  const whole = await client.completions.create({ model: models.template, prompt: question() });
  assert.equal(whole.choices[0].text, said);
  let text = '';
  const stream = await client.completions.create({ model: models.template, prompt: question(), stream: true });
  for await (const { choices } of stream) text += choices[0]?.text ?? '';
  assert.equal(text, said);
});
await check('responses', async () => {
  const whole = await client.responses.create({ model: models.template, input: question() });
  assert.deepEqual([whole.output_text, whole.status], [said, 'completed']);
  const streamed = await client.responses.stream({ model: models.template, input: question() }).finalResponse();
  assert.equal(streamed.output_text, said);
});
await check('responses, tools', async () => {
  for (const model of [models.passing, models.asking, models.direct]) {
    const asked = { model, tools: [{ type: 'function', strict: true, ...tools[0].function }] };
    const first = await client.responses.create({ ...asked, input: question() });
    const call = first.output.find(({ type }) => type === 'function_call');
    assert.deepEqual(JSON.parse(call.arguments), { town });
    const input = [{ type: 'function_call_output', call_id: call.call_id, output: 'rain' }];
    assert.equal((await client.responses.create({ ...asked, input, previous_response_id: first.id })).output_text, said);
  }
});
