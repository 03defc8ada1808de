import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

describe('a TCP proxy', () => {
  let echo: Server;
  let proxy: TcpProxy;
  const clients: Socket[] = [];

  beforeEach(async () => {
    echo = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.pipe(socket);
    });
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    proxy = await TcpProxy.open({ target: { host: '127.0.0.1', port: (echo.address() as AddressInfo).port } });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await proxy.close();
    await new Promise((resolve) => echo.close(resolve));
  });

  async function open(): Promise<{ socket: Socket; received: Buffer[]; ended: () => boolean }> {
    const socket = connect(proxy.port, '127.0.0.1');
    clients.push(socket);
    const received: Buffer[] = [];
    let ended = false;
    socket.on('data', (bytes) => received.push(bytes));
    socket.on('error', () => undefined);
    socket.on('close', () => (ended = true));
    // A refused connection may be reset before it is established.
    await Promise.race([once(socket, 'connect'), new Promise((resolve) => socket.once('close', resolve))]).catch(() => undefined);
    return { socket, received, ended: () => ended };
  }
  const text = (received: readonly Buffer[]) => Buffer.concat(received).toString();

  it('transfers bytes in both directions, in order', async () => {
    const { socket, received } = await open();
    for (let n = 0; n < 100; n += 1) socket.write(`${n},`);
    await until('the proxy to do it', () => text(received).endsWith('99,'));
    expect(text(received)).toBe(Array.from({ length: 100 }, (_, n) => `${n},`).join(''));
  });

  it('delays and slices pieces without changing their content', async () => {
    const { socket, received } = await open();
    proxy.poison({ latencyMs: 20, sliceBytes: 3 });
    const start = Date.now();
    socket.write('abcdefghij');
    await until('the proxy to do it', () => text(received).length === 10);
    expect(text(received)).toBe('abcdefghij');
    expect(Date.now() - start).toBeGreaterThanOrEqual(80);
    expect(received.length).toBeGreaterThan(1);
  });

  it('cuts connections and accepts new ones', async () => {
    const first = await open();
    await until('the proxy to do it', () => proxy.connections === 1);
    proxy.cut();
    await until('the proxy to do it', () => first.ended());
    const second = await open();
    second.socket.write('still here');
    await until('the proxy to do it', () => text(second.received) === 'still here');
    expect(proxy.accepted).toBe(2);
  });

  it('swallows bytes while it is half open, and keeps the connection', async () => {
    const { socket, received, ended } = await open();
    proxy.poison({ halfOpen: true });
    socket.write('lost');
    await new Promise((resolve) => setTimeout(resolve, 100));
    proxy.poison({});
    socket.write('found');
    await until('the proxy to do it', () => text(received) === 'found');
    expect(ended()).toBe(false);
  });

  it('transfers nothing more over a connection that lost bytes, and everything over a new one', async () => {
    const old = await open();
    proxy.poison({ halfOpen: 'for good' });
    old.socket.write('lost');
    await new Promise((resolve) => setTimeout(resolve, 100));
    proxy.poison({});
    old.socket.write('still lost');
    const young = await open();
    young.socket.write('found');
    await until('the proxy to do it', () => text(young.received) === 'found');
    expect([text(old.received), old.ended()]).toEqual(['', false]);
  });

  it('keeps pieces in order that travel at the same time, and cuts them at random', async () => {
    const { socket, received } = await open();
    proxy.poison({ travelMs: 100, jitterMs: 20, sliceBytes: [1, 7] });
    const start = Date.now();
    const said = Array.from({ length: 20 }, (_, n) => `${n},`);
    for (const one of said) {
      socket.write(one);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await until('the proxy to do it', () => text(received) === said.join(''));
    const took = Date.now() - start;
    // There and back; one after the other would take 4 s.
    expect(took).toBeGreaterThanOrEqual(200);
    expect(took).toBeLessThan(2_000);
  });

  it('refuses connections until they are allowed again', async () => {
    proxy.refuse(true);
    const refused = await open();
    await until('the proxy to do it', () => refused.ended());
    proxy.refuse(false);
    const { socket, received } = await open();
    socket.write('back');
    await until('the proxy to do it', () => text(received) === 'back');
  });
});
