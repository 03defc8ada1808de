import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A TCP proxy that can cut a connection after the server executed a command and before the reply arrives. */
export interface CuttingProxy {
  readonly url: string;
  /** Drops the next `times` replies, except for their first `kept` bytes, and closes their connections instead. */
  loseReplies(times: number, kept?: number): void;
  /** Called at the next lost reply; new connections wait until it is done. */
  atNextLoss(act: () => Promise<void>): void;
  /** Replies lost so far. */
  lost(): number;
  close(): Promise<void>;
}

export async function cuttingProxy(port: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let toLose = 0;
  let keptBytes = 0;
  let lost = 0;
  let act: (() => Promise<void>) | null = null;
  let acted = Promise.resolve();
  const pass = (client: Socket): void => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()); // a cut is what these tests are about
      socket.on('close', () => sockets.delete(socket));
    }
    // Only replies to our own requests are dropped, not those of a new connection's handshake.
    let asked = false;
    client.on('data', (request) => {
      asked = /\r\neval(sha)?\r\n/i.test(request.toString('latin1'));
      upstream.write(request);
    });
    upstream.on('data', (reply) => {
      // NOSCRIPT: the script was not executed, so the reply is not dropped.
      if (asked && toLose > 0 && !reply.toString('latin1').startsWith('-NOSCRIPT')) {
        toLose -= 1;
        lost += 1;
        acted = act?.() ?? acted;
        act = null;
        if (keptBytes > 0) client.end(reply.subarray(0, keptBytes));
        else client.destroy();
        upstream.destroy();
      } else {
        client.write(reply);
      }
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  };
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => client.destroy());
    void acted.then(() => pass(client));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseReplies: (times, kept = 0) => ([toLose, keptBytes] = [times, kept]),
    atNextLoss: (given) => (act = given),
    lost: () => lost,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
