import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { address, apiKey, check, counted, endless, failureOf, models, question, said, tell, town, versionOf } from './capabilities.mjs';

const options = { baseURL: address, apiKey };
const client = new Anthropic(options);
const ask = (content, rest = {}) => ({ model: models.template, max_tokens: 500, messages: [{ role: 'user', content }], ...rest });
const textOf = ({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')).join('');
tell({ client: 'Anthropic SDK (Node)', version: versionOf('@anthropic-ai/sdk') });

await check('messages', async () => {
  const answer = await client.messages.create(ask(question()));
  assert.deepEqual([textOf(answer), answer.stop_reason], [said, 'end_turn']);
  assert.ok(answer.usage.output_tokens > 0);
});
await check('messages, streamed', async () => {
  let text = '';
  const stream = client.messages.stream(ask(question())).on('text', (delta) => (text += delta));
  assert.deepEqual([textOf(await stream.finalMessage()), text], [said, said]);
});
const tools = [{ name: 'get_weather', input_schema: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] } }];
const roundTrip = async (model) => {
  const first = ask(question(), { model, tools });
  for (const send of [() => client.messages.create(first), () => client.messages.stream(first).finalMessage()]) {
    const { content, stop_reason } = await send();
    const call = content.find(({ type }) => type === 'tool_use');
    assert.deepEqual([stop_reason, call?.name, call?.input], ['tool_use', 'get_weather', { town }]);
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'rain' }] };
    const second = await client.messages.create({ ...first, messages: [...first.messages, { role: 'assistant', content }, result] });
    assert.equal(textOf(second), said);
  }
};
await check('tools, template', () => roundTrip(models.passing));
await check('tools, asked first', () => roundTrip(models.asking));
await check('tools, direct', () => roundTrip(models.direct));
await check('errors', async () => {
  assert.ok((await failureOf(client.messages.create(ask('x', { model: 'no-such' })))) instanceof Anthropic.NotFoundError);
  assert.ok((await failureOf(client.messages.create(ask('x', { temperature: 9 })))) instanceof Anthropic.BadRequestError);
  const stranger = new Anthropic({ ...options, apiKey: 'sk-nobody' });
  assert.ok((await failureOf(stranger.messages.create(ask('x')))) instanceof Anthropic.AuthenticationError);
});
await check('no useless retry', async () => {
  const [requests, fetch] = counted();
  await failureOf(new Anthropic({ ...options, apiKey: 'sk-nobody', fetch, maxRetries: 3 }).messages.create(ask('x')));
  assert.equal(requests.count, 1);
});
await check('abort', async () => {
  const stream = client.messages.stream(ask(question(endless), { model: models.direct }));
  stream.on('text', () => stream.abort());
  assert.ok((await failureOf(stream.finalMessage())) instanceof Anthropic.APIUserAbortError);
});
await check('models', async () => {
  const { data } = await client.models.list();
  assert.ok(data.some(({ id }) => id === models.template));
});
