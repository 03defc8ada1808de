import { describe, expect, it } from '@jest/globals';
import { bare, codeOf, open, watch } from './__fixtures__/servers.js';
import {
  hasNeighbours,
  refusesInstructions,
  refusesLaterInstructions,
  withOneSystemMessage,
  withoutSystemMessage,
  withTurnsThatAlternate,
} from './system-messages.js';

interface Message {
  readonly role: string;
  readonly content: unknown;
}
const said = (role: string, content: unknown): Message & Record<string, unknown> => ({ role, content });
const note = (text: string): string => `<system-reminder>\n${text}\n</system-reminder>`;

describe('instructions between the turns', () => {
  const sentence = 'Error: Jinja Exception: System message must be at the beginning.';
  /** A server with such a template, and the messages of its requests. */
  const strict = async (seen: Message[][], status = 500, words = sentence): Promise<string> =>
    bare((_request, response, text) => {
      const { messages } = JSON.parse(text) as { messages: Message[] };
      seen.push(messages);
      const refused = messages.some(({ role }, at) => role === 'developer' || (role === 'system' && at > 0));
      response.writeHead(refused ? status : 200, { 'content-type': 'application/json' });
      const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] };
      response.end(JSON.stringify(refused ? { error: { code: status, message: words, type: 'server_error' } } : answer));
    });
  const messages = [said('system', 'Be kind.'), said('user', 'Hello'), said('system', 'Be brief.')];
  const body = { model: 'x', messages };

  it('become text of a turn where the template of the server accepts only one system message, from the third call on at once', async () => {
    const seen: Message[][] = [];
    const models = open(await strict(seen));
    for (let n = 0; n < 3; n += 1) await models.pass({ model: 'm@p', body, timeoutMs: 5_000 }, watch());
    const changed = [said('system', 'Be kind.'), said('user', `Hello\n\n${note('Be brief.')}`)];
    expect(seen).toEqual([messages, changed, messages, changed, changed]);
  });

  it('stay as they are for every other error', async () => {
    const seen: Message[][] = [];
    const models = open(await strict(seen, 400, 'The prompt is too expensive.'));
    expect(await codeOf(models.pass({ model: 'm@p', body, timeoutMs: 5_000 }, watch()))).toBe('PROVIDER_REFUSED');
    expect(seen).toEqual([messages]);
  });

  it.each([
    [
      'several at the beginning are one',
      [said('system', 'A'), said('developer', [{ type: 'text', text: 'B' }]), said('user', 'C')],
      [said('system', 'A\n\nB'), said('user', 'C')],
    ],
    [
      'after the result of a tool, a turn of its own, joined with the next message of the user',
      [said('user', 'A'), said('assistant', null), said('tool', 'B'), said('system', 'C'), said('user', 'D')],
      [said('user', 'A'), said('assistant', null), said('tool', 'B'), said('user', `${note('C')}\n\nD`)],
    ],
    [
      'beside parts, a part',
      [said('user', [{ type: 'image_url', image_url: { url: 'data:' } }]), said('system', 'A')],
      [
        said('user', [
          { type: 'image_url', image_url: { url: 'data:' } },
          { type: 'text', text: note('A') },
        ]),
      ],
    ],
    ['two messages of a user stay two', [said('user', 'A'), said('user', 'B')], [said('user', 'A'), said('user', 'B')]],
  ])('%s', (_name, before, after) => expect(withOneSystemMessage(before)).toEqual(after));

  it.each([
    ['System message must be at the beginning.', true],
    ["raise_exception('After the optional system message, conversation roles must alternate user/assistant/user/assistant/...')", true],
    ['Only user and assistant roles are supported!', true],
    ['Unexpected message role.', true],
    ['The system is overloaded; try again at first light.', false],
    ['Your first message is too long.', false],
    ['role-based access is denied', false],
  ])('are refused by: %s (%s)', (message, refuses) => expect(refusesLaterInstructions(message)).toBe(refuses));
});

type Refusal = (messages: readonly (Message & Record<string, unknown>)[]) => string | object | null;
/** A server that refuses messages, and the messages of its requests. */
async function server(refusal: Refusal, status = 400): Promise<{ readonly url: string; readonly seen: Message[][] }> {
  const seen: Message[][] = [];
  const url = await bare((_request, response, text) => {
    const { messages } = JSON.parse(text) as { messages: (Message & Record<string, unknown>)[] };
    seen.push(messages);
    const refused = refusal(messages);
    response.writeHead(refused ? status : 200, { 'content-type': 'application/json' });
    const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] };
    response.end(JSON.stringify(typeof refused === 'string' ? { object: 'error', message: refused, code: status } : (refused ?? answer)));
  });
  return { url, seen };
}
const passed = async (url: string, messages: readonly unknown[]) =>
  (await open(url).pass({ model: 'm@p', body: { model: 'x', messages }, timeoutMs: 5_000 }, watch())).content;
const hasSystem: (words: string) => Refusal = (words) => (messages) => (messages.some(({ role }) => role === 'system') ? words : null);
const hasPair: (words: string) => Refusal = (words) => (messages) =>
  messages.some(({ role }, at) => role === messages[at - 1]?.role) ? words : null;

describe('instructions that a model does not know', () => {
  const asked = [said('system', 'Be kind.'), said('user', 'Hello')];
  it.each([
    ['Gemma 2 on vLLM', 400, 'System role not supported'],
    ['Gemma 2 on llama.cpp', 500, "System role not supported at row 1, column 71:\n{{ raise_exception('System role not supported') }}"],
    ['Gemma 3 at Gemini', 400, 'Developer instruction is not enabled for models/gemma-3-27b-it'],
    ['an early Mistral model', 400, 'Conversation roles must alternate user/assistant/user/assistant/...'],
    ['Bedrock', 400, "This model doesn't support system messages. Try again without system messages."],
    ['OpenAI', 400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."],
  ])('become text of the user: %s', async (_name, status, words) => {
    const { url, seen } = await server(hasSystem(words), status);
    expect(await passed(url, asked)).toBe('ok');
    expect(seen).toEqual([asked, [said('user', 'Be kind.\n\nHello')]]);
  });

  it('stand before an answer that begins the conversation, and beside parts as a part', () => {
    expect(withoutSystemMessage([said('system', 'A'), said('assistant', 'B')])).toEqual([said('user', 'A'), said('assistant', 'B')]);
    const text = (words: string) => ({ type: 'text', text: words });
    expect(withoutSystemMessage([said('system', 'A'), said('user', [text('B')])])).toEqual([said('user', [text('A'), text('B')])]);
  });

  it.each(['The file system is not supported.', 'system overloaded', 'The user role is not allowed to use this model.'])(
    'are kept after: %s',
    (message) => expect(refusesInstructions(message)).toBe(false),
  );
});

describe('messages of the same side that follow each other', () => {
  const asked = [said('user', 'A'), said('assistant', 'B'), said('user', 'C'), said('user', 'D')];
  it.each([
    ['Gemma on vLLM', 'Conversation roles must alternate user/assistant/user/assistant/...'],
    ['Perplexity', 'After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).'],
  ])('are one where the server wants turns to alternate: %s', async (_name, words) => {
    const { url, seen } = await server(hasPair(words));
    expect(await passed(url, asked)).toBe('ok');
    expect(seen).toEqual([asked, [said('user', 'A'), said('assistant', 'B'), said('user', 'C\n\nD')]]);
  });

  it('stay two if one of them calls tools', () => {
    const calls = [said('assistant', 'A'), { ...said('assistant', null), tool_calls: [{}] }];
    expect(hasNeighbours(calls)).toBe(false);
    expect(withTurnsThatAlternate(calls)).toEqual(calls);
  });
});

describe('the thinking of earlier turns', () => {
  const asked = [said('user', 'A'), { ...said('assistant', 'B'), reasoning_content: 'I think.' }, said('user', 'C')];
  const fault = {
    type: 'extra_forbidden',
    loc: ['body', 'messages', 1, 'assistant', 'reasoning_content'],
    msg: 'Extra inputs are not permitted',
  };
  const sentence = "property 'messages.1.assistant.reasoning_content' is unsupported";
  it.each([
    ['Mistral', 422, { object: 'error', message: { detail: [fault] }, type: 'invalid_request_error' }],
    ['Cerebras', 400, { message: sentence, param: 'validation_error', code: 'wrong_api_format' }],
    ['Groq', 400, { error: { message: "'messages.1' : property 'reasoning_content' is unsupported", type: 'invalid_request_error' } }],
  ])('is left out where a server refuses it: %s', async (_name, status, body) => {
    const { url, seen } = await server((messages) => (messages.some((one) => 'reasoning_content' in one) ? body : null), status);
    expect(await passed(url, asked)).toBe('ok');
    expect(seen).toEqual([asked, [said('user', 'A'), said('assistant', 'B'), said('user', 'C')]]);
  });
});
