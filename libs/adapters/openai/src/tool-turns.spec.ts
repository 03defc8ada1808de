import { describe, expect, it } from '@jest/globals';
import { bare, open, watch } from './__fixtures__/servers.js';
import { hasLongIds, refusesLongIds, withShortIds } from './tool-turns.js';

type Message = Readonly<Record<string, unknown>>;
/** A server with the rules of Mistral, and the messages of its requests. */
async function mistral(): Promise<{ readonly url: string; readonly seen: Message[][] }> {
  const seen: Message[][] = [];
  const refusal = (messages: readonly Message[]): string | null => {
    const ids = messages.map(({ tool_call_id: id }) => id).filter((id) => typeof id === 'string');
    const long = ids.find((id) => !/^[A-Za-z0-9]{9}$/.test(id));
    if (long !== undefined) return `Tool call id was ${long} but must be a-z, A-Z, 0-9, with a length of 9.`;
    const isMixed = messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.['role'] === 'tool');
    return isMixed ? "Unexpected role 'user' after role 'tool'" : null;
  };
  const url = await bare((_request, response, text) => {
    const { messages } = JSON.parse(text) as { messages: Message[] };
    seen.push(messages);
    const message = refusal(messages);
    const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] };
    response.writeHead(message === null ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(message === null ? answer : { object: 'error', message, type: 'invalid_request_error', code: '3230' }));
  });
  return { url, seen };
}
const calling = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
});
const result = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'seen' });
const user = (content: string) => ({ role: 'user', content });

describe('a conversation with tools', () => {
  const messages = [user('A'), calling('toolu_01AbC', 'call_2'), result('toolu_01AbC'), result('call_2'), user('And?')];

  it('that began elsewhere goes on at Mistral: ids have nine letters, and the model replies before the user does', async () => {
    const { url, seen } = await mistral();
    const reply = await open(url).pass({ model: 'm@p', body: { model: 'x', messages }, timeoutMs: 5_000 }, watch());
    expect(reply.content).toBe('ok');
    expect(seen).toHaveLength(3);
    const last = seen.at(-1)!;
    expect(last.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant', 'user']);
    const ids = (last[1]!['tool_calls'] as { id: string }[]).map(({ id }) => id);
    expect(last.slice(2, 4).map(({ tool_call_id: id }) => id)).toEqual(ids);
    expect(new Set(ids).size).toBe(2);
  });

  it('keeps ids that are short, and has the same ones in each request', () => {
    const own = [calling('gSIMJiOkT'), result('gSIMJiOkT')];
    expect(hasLongIds(own)).toBe(false);
    expect(withShortIds(own)).toEqual(own);
    expect(withShortIds(messages)).toEqual(withShortIds(messages));
  });

  it('keeps its ids after another refusal', () => {
    expect(refusesLongIds('Not the same number of function calls and responses')).toBe(false);
    expect(refusesLongIds('Tool call IDs should be alphanumeric strings with length 9!')).toBe(true); // the chat template
  });
});
