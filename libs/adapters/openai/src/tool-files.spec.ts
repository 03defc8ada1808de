import { describe, expect, it } from '@jest/globals';
import { bare, codeOf, open, watch } from './__fixtures__/servers.js';
import { refusesFiles } from './tool-files.js';

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const file = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } };
const text = (said: string) => ({ type: 'text', text: said });
const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content });
const calls = { role: 'assistant', content: null, tool_calls: [{ id: 'a' }, { id: 'b' }] };
const question = { role: 'user', content: 'Which map?' };

/** A server that refuses some messages, and the messages of its requests. */
const server = (seen: unknown[][], refuses: (text: string) => readonly [status: number, words: string] | null): Promise<string> =>
  bare((_request, response, body) => {
    seen.push((JSON.parse(body) as { messages: unknown[] }).messages);
    const refused = refuses(body);
    response.writeHead(refused?.[0] ?? 200, { 'content-type': 'application/json' });
    const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] };
    response.end(JSON.stringify(refused ? { error: { code: refused[0], message: refused[1], type: 'server_error' } } : answer));
  });

describe('images and files that tools return', () => {
  it.each([
    [
      'follow all results of their turn',
      [question, calls, result('a', [text('a map'), image]), result('b', [file])],
      [
        ...[question, calls, result('a', 'a map\n[image, shown after the results]'), result('b', '[file, shown after the results]')],
        { role: 'user', content: [text('Returned by the tool call a:'), image, text('Returned by the tool call b:'), file] },
      ],
    ],
    [
      'join the next message of the user',
      [question, calls, result('a', [image]), result('b', 'no'), { role: 'user', content: 'And?' }],
      [
        ...[question, calls, result('a', '[image, shown after the results]'), result('b', 'no')],
        { role: 'user', content: [text('Returned by the tool call a:'), image, text('And?')] },
      ],
    ],
    [
      'come before the next answer',
      [question, calls, result('a', [image]), { role: 'assistant', content: 'Ulm' }, { role: 'user', content: [text('And?')] }],
      [
        ...[question, calls, result('a', '[image, shown after the results]')],
        { role: 'user', content: [text('Returned by the tool call a:'), image] },
        ...[
          { role: 'assistant', content: 'Ulm' },
          { role: 'user', content: [text('And?')] },
        ],
      ],
    ],
    ['are nothing in a result of texts', [question, calls, result('a', [text('a map')])], [question, calls, result('a', [text('a map')])]],
  ])('%s', async (_, messages, sent) => {
    const seen: unknown[][] = [];
    const models = open(await server(seen, () => null));
    await models.pass({ model: 'm@p', body: { model: 'x', messages }, timeoutMs: 5_000 }, watch());
    expect(seen).toEqual([sent]);
  });

  it('become marks where the model cannot see, from the third call on at once', async () => {
    const seen: unknown[][] = [];
    const models = open(
      await server(seen, (body) => (body.includes('image_url') ? [500, 'image input is not supported - hint: mmproj'] : null)),
    );
    const body = { model: 'x', messages: [question, calls, result('a', [text('a map'), image])] };
    for (let n = 0; n < 3; n += 1) await models.pass({ model: 'm@p', body, timeoutMs: 5_000 }, watch());
    const marked = [question, calls, result('a', 'a map\n[image, which this model cannot see]')];
    expect(seen.map((messages) => messages.length)).toEqual([4, 3, 4, 3, 3]);
    expect(seen.at(-1)).toEqual(marked);
  });

  it('of a user are not left out', async () => {
    const seen: unknown[][] = [];
    const models = open(await server(seen, () => [400, 'm is not a multimodal model']));
    const body = { model: 'x', messages: [{ role: 'user', content: [text('Which map?'), image] }] };
    expect(await codeOf(models.pass({ model: 'm@p', body, timeoutMs: 5_000 }, watch()))).toBe('PROVIDER_REFUSED');
    expect(seen).toHaveLength(1);
  });

  it.each([
    'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
    'At most 0 image(s) may be provided in one prompt.',
    'm is not a multimodal model',
    'Model does not support images. Please use a model that does.',
    'Invalid content type. image_url is only supported by certain models.',
    'Failed to deserialize the JSON body: messages[2]: unknown variant `image_url`, expected `text`',
    "'messages.3' : content must be a string",
    'Unknown part type: file',
  ])('are refused by servers that say: %s', (sentence) => expect(refusesFiles(sentence)).toBe(true));
});

describe('parallel_tool_calls', () => {
  it.each([true, false])('is left out where a server does not know it: %s', async (value) => {
    const seen: unknown[] = [];
    const models = open(
      await bare((_request, response, body) => {
        seen.push((JSON.parse(body) as { parallel_tool_calls?: unknown }).parallel_tool_calls);
        const refused = body.includes('parallel_tool_calls');
        response.writeHead(refused ? 400 : 200, { 'content-type': 'application/json' });
        const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] };
        response.end(JSON.stringify(refused ? { error: { message: "Unsupported parameter: 'parallel_tool_calls'" } } : answer));
      }),
    );
    const tools = [{ type: 'function', function: { name: 'look' } }];
    await models.pass(
      { model: 'm@p', body: { model: 'x', messages: [question], tools, parallel_tool_calls: value }, timeoutMs: 5_000 },
      watch(),
    );
    expect(seen).toEqual([value, undefined]);
  });
});
