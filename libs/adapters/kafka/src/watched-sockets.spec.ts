import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { watchedSockets } from './watched-sockets.js';

describe('a watched socket', () => {
  let server: Server;
  let answers = true;
  const sockets: Socket[] = [];
  beforeEach(async () => {
    answers = true;
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => answers && socket.write(bytes));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  async function open(silentMs: number): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const socket = watchedSockets(silentMs)({ host: '127.0.0.1', port, ssl: undefined as never, onConnect: () => undefined }) as Socket;
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it('closes when sent data stays unanswered for the limit, counted from its first byte', async () => {
    const socket = await open(150);
    answers = false;
    const ended = new Promise((resolve) => socket.once('close', resolve));
    const failed = new Promise((resolve) => socket.once('error', resolve));
    const began = performance.now();
    const sending = setInterval(() => socket.write('?'), 50);
    socket.write('?');
    expect(await failed).toMatchObject({ message: expect.stringContaining('150 ms') });
    await ended;
    clearInterval(sending);
    expect(performance.now() - began).toBeGreaterThanOrEqual(140);
  });

  it('stays open while it is answered, and while nothing was sent', async () => {
    const socket = await open(100);
    for (let n = 0; n < 4; n += 1) {
      socket.write('!');
      await pause(40);
    }
    await pause(250);
    expect(socket.destroyed).toBe(false);
  });
});
