import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

const keepAliveMs = 60_000;

/** Like kafkajs's own, but a request never waits for the answer to the one before it to leave (Nagle's algorithm). */
const plainSockets: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const socket = ssl
    ? connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...(ssl as object) }, onConnect)
    : connect({ host, port }, onConnect);
  socket.setKeepAlive(true, keepAliveMs);
  socket.setNoDelay(true);
  return socket;
};

/**
 * Sockets that close when nothing comes back for `silentMs` milliseconds after a send. kafkajs only times out the request and keeps using
 * the connection forever, so it would never replace a half-open one (packets vanish without an error). `silentMs` must exceed the longest
 * response time, which for a group member is its rebalance.
 */
export function watchedSockets(silentMs: number, make: ISocketFactory = plainSockets): ISocketFactory {
  return (options) => {
    const socket = make(options);
    let timer: NodeJS.Timeout | undefined;
    const heard = (): void => {
      clearTimeout(timer);
      timer = undefined;
    };
    const write = socket.write.bind(socket) as (...all: unknown[]) => boolean;
    socket.write = (...all: unknown[]): boolean => {
      timer ??= setTimeout(() => socket.destroy(new Error(`The broker has not answered for ${silentMs} ms.`)), silentMs).unref();
      return write(...all);
    };
    // kafkajs adds its own listener in the same turn, so it misses no data.
    socket.on('data', heard);
    socket.on('close', heard);
    return socket;
  };
}
