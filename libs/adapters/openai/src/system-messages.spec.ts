import { describe, expect, it } from '@jest/globals';
import { bare, codeOf, open, watch } from './__fixtures__/servers.js';
import { refusesLaterInstructions, withOneSystemMessage } from './system-messages.js';

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
