import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { StreamBody } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { RawClient, SseClient } from '../__fixtures__/sse-client.js';
import { completed, World } from '../__fixtures__/world.js';

let world: World;
afterEach(() => world.close());

const body = { model: 'conclave', stream: true, messages: [{ role: 'user', content: 'Why?' }] };
const chunkLength = 5_000;
/** Exceeds the buffers of both sockets. */
const text = Array.from({ length: 5_000 }, (_, n) => String.fromCharCode(97 + (n % 26)).repeat(chunkLength));

function writeAll(): void {
  world.compose();
  const taskId = `${world.run()}/0/judge.synthesis`;
  world.write(...text.map((part, index) => ({ kind: 'chunk', taskId, attempt: 1, offset: index * chunkLength, text: part }) as const));
}

describe('a client', () => {
  it('that sends `Connection: close` gets it: the connection ends with the stream', async () => {
    world = await World.open();
    const { hostname, port } = new URL(world.url);
    const body = JSON.stringify({ model: 'conclave', stream: true, messages: [{ role: 'user', content: 'Why?' }] });
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    const ended = new Promise<void>((resolve) => socket.once('end', resolve));
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    await until('the head', () => text.includes('\r\n\r\n'));
    world.write(completed());
    await ended;
    expect(text.toLowerCase()).toContain('connection: close');
    expect(text).toContain('data: [DONE]');
  }, 10_000);
});

describe('a client that does not read', () => {
  it('is not sent more than its connection takes, and gets everything when it reads again', async () => {
    world = await World.open();
    const client = await RawClient.open(world.url);
    client.post('/v1/chat/completions', body);
    await until('the role', () => client.received.includes('"role"'));
    client.socket.pause();
    writeAll();
    const pages = () => world.stores.reads.length;
    let before = -1;
    await until(
      'the reads to stop',
      () => {
        const still = pages() === before;
        before = pages();
        return still;
      },
      { everyMs: 200 },
    );
    expect(pages()).toBeLessThan(9);
    client.socket.resume();
    world.write(completed({ answer: text.join(''), sources: [] }));
    await until('the end', () => client.received.endsWith('data: [DONE]\n\n\r\n0\r\n\r\n'), { timeoutMs: 15_000 });
    const content = [...client.received.matchAll(/"content":"([a-z]+)"/g)].map(([, part]) => part).join('');
    expect(content.length).toBe(text.length * chunkLength);
  }, 30_000);

  it('is disconnected when it does not read for too long; the run continues, and its events can be read later', async () => {
    world = await World.open({ limits: { slowClientMs: 150 } });
    const client = await RawClient.open(world.url);
    client.post('/v1/chat/completions', body);
    await until('the role', () => client.received.includes('"role"'));
    client.socket.pause();
    writeAll();
    await until('the drop', () => world.metric('onStreamClose').length > 0);
    expect(world.metric('onStreamClose')).toEqual([['chat', 'slow']]);
    await until('the client to be forgotten', () => world.stores.clients(world.run()).size === 0);
    expect(world.stores.flagged.size).toBe(0);
    const late: StreamBody = completed();
    world.write(late);
    const events = new SseClient(await fetch(`${world.url}/v1/runs/${world.run()}/events?after=${text.length}`));
    await events.all();
    expect(events.events.at(-1)!.event).toBe('run.completed');
    client.leave();
  });
});
