import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

const keepAliveMs = 60_000;

/** As kafkajs makes them. */
const plainSockets: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const socket = ssl
    ? connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...(ssl as object) }, onConnect)
    : connect({ host, port }, onConnect);
  socket.setKeepAlive(true, keepAliveMs);
  return socket;
};

/**
 * Sockets that end when something was sent and nothing at all came back for `silentMs` milliseconds. kafkajs gives up the request
 * then, but goes on sending over the same connection, for ever: one that is half open (its packets vanish, nobody says so) would
 * never be replaced. The limit must be longer than the longest answer takes, which for a member of a group is its rebalance.
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
    // kafkajs listens in the same turn: no byte is read before it does.
    socket.on('data', heard);
    socket.on('close', heard);
    return socket;
  };
}
