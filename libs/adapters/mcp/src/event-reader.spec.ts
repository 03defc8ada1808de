import { describe, expect, it } from '@jest/globals';
import { EventReader } from './event-reader.js';
import { beginsWithEndpoint } from './first-event.js';

function read(text: string, size: number, longest = 200): readonly unknown[] {
  const seen: unknown[] = [];
  const reader = new EventReader(longest, { onEvent: (...event) => seen.push(event), onLong: (id) => seen.push(id) });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.read(bytes.subarray(at, at + size));
  return seen;
}

describe('the events of a stream', () => {
  it.each(['\n', '\r\n', '\r'])('are the same however they arrive (%j)', (end) => {
    const lines = [
      ': hello',
      '',
      'event: endpoint',
      'data: /messages?a=b',
      '',
      '',
      'data:ä',
      'data: b',
      'id: 7',
      '',
      'retry: 5',
      '',
      'data: c',
      '',
    ];
    const text = lines.map((line) => line + end).join('');
    const expected = [
      ['endpoint', '/messages?a=b'],
      ['message', 'ä\nb'],
      ['message', 'c'],
    ];
    for (let size = 1; size <= text.length; size += 1) expect(read(text, size)).toEqual(expected);
  });

  it.each(['\n', '\r\n', '\r'])('that are too long are told by the call that they answer, and the next one is read (%j)', (end) => {
    const long = (id: string): string => `id: 3${end}event: message${end}data: {"jsonrpc":"2.0",${id}"x":"${'x'.repeat(400)}"}${end}${end}`;
    for (const size of [1, 7, 450, 2_000])
      expect(read(`${long('"id":12,')}data: a${end}${end}${long('')}data: b${end}${end}`, size)).toEqual([
        12,
        ['message', 'a'],
        null,
        ['message', 'b'],
      ]);
  });
});

it('an event of very many short lines is read at once', () => {
  const before = process.cpuUsage();
  expect(read(`${'a\r\n'.repeat(100_000)}\r\n`, 65_536)).toEqual([null]);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
});

describe('a stream', () => {
  const response = (chunks: readonly string[]): Response =>
    new Response(
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(Buffer.from(chunk));
          controller.close();
        },
      }),
    );

  it.each([
    [['event: endpoint\ndata: /messages\n\n']],
    [[': hello\r\n\r\nid: 1\r\nretry: 100\r\nevent:endp', 'oint\r\ndata: /messages\r\n\r\n']],
  ])('begins with an endpoint: %j', async (chunks) => {
    expect((await beginsWithEndpoint(response(chunks))).isEndpoint).toBe(true);
  });

  it.each([
    [['data: {}\n\n', 'event: endpoint\ndata: /messages\n\n']],
    [['event: message\n', 'data: endpoint\n\n']],
    [['event: endpoints\ndata: 1\n\n']],
    [[': comment\n\n'.repeat(200), 'event: endpoint\n\n']],
    [['event: endpoint']],
    [[]],
  ])('does not, and is passed on whole: %j', async (chunks) => {
    const { isEndpoint, rest } = await beginsWithEndpoint(response(chunks));
    expect([isEndpoint, await new Response(rest).text()]).toEqual([false, chunks.join('')]);
  });
});
