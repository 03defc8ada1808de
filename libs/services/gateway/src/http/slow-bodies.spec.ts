import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as after } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { World } from '../__fixtures__/world.js';
import { slowBodies } from './slow-bodies.js';

let world: World;
beforeAll(async () => {
  world = await World.open({ limits: { requestTimeoutMs: 300 } });
});
afterAll(() => world.close());

/** A connection that has sent the head of a chat request with a body of `length` bytes. */
async function begun(length: number): Promise<Socket> {
  const { port } = new URL(world.url);
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`,
  );
  return socket;
}

describe('a body that', () => {
  it('trickles in is refused with 408, and its connection is closed', async () => {
    const socket = await begun(1_000);
    const answer = text(socket);
    const trickle = setInterval(() => socket.write(' '), 20);
    socket.once('close', () => clearInterval(trickle));
    socket.on('error', () => undefined);
    const said = await answer;
    clearInterval(trickle);
    expect(said).toMatch(/^HTTP\/1\.1 408 /);
    expect(said).toContain('"code":"REQUEST_TOO_SLOW"');
    expect(said).toContain('x-should-retry: false');
  });

  it('never arrives is refused with 408', async () => {
    expect(await text(await begun(10))).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('has arrived is no longer timed, even when nothing reads it', async () => {
    const guard = slowBodies(100, (response) => void response.writeHead(408).end());
    const server = createServer((request, response) =>
      guard(request as Request, response as Response, () => void setTimeout(() => response.end('late'), 300)),
    );
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    try {
      const { port } = server.address() as AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' });
      expect([response.status, await response.text()]).toEqual([200, 'late']);
    } finally {
      server.close();
    }
  });

  it('arrives steadily may take longer than the limit', async () => {
    const part = ' '.repeat(16 * 1024);
    const socket = await begun(3 * part.length);
    for (let n = 0; n < 3; n += 1) {
      socket.write(part);
      // Each part allows one more second; together they take twice the limit.
      await after(200);
    }
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /);
  });
});
