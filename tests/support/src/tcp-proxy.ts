import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

export interface TcpProxyOptions {
  /** Where connections go. */
  readonly target: { readonly host: string; readonly port: number };
  /** Port on 127.0.0.1 to listen on; a free one by default. */
  readonly port?: number;
}

/** What the proxy does to bytes that pass, in both directions. */
export interface Toxics {
  /** Milliseconds by which each piece is delayed; the next one waits behind it. */
  readonly latencyMs?: number;
  /** Milliseconds each piece is under way: any number at the same time, none overtakes another. */
  readonly travelMs?: number;
  /** At most this many milliseconds are added to `travelMs` at random. */
  readonly jitterMs?: number;
  /** At most this many bytes per piece; for a pair of numbers, a random size between them. */
  readonly sliceBytes?: number | readonly [number, number];
  /**
   * Bytes are swallowed and connections stay open, as with an unplugged cable. `for good`: a connection that has lost bytes never carries
   * any again, even when all is healed, as behind a router that has forgotten it.
   */
  readonly halfOpen?: boolean | 'for good';
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Whether the connection has lost bytes and stays dead. */
  lost: boolean;
}

/** A TCP proxy on loopback that a test uses to break connections. */
export class TcpProxy {
  private readonly pairs = new Set<Pair>();
  private readonly server: Server;
  private toxics: Toxics = {};
  private refusing = false;
  /** Connections accepted since the start. */
  accepted = 0;
  /** Bytes carried from the target to clients since the start. */
  delivered = 0;

  private constructor(private readonly options: TcpProxyOptions) {
    this.server = createServer((client) => this.accept(client));
  }

  static async open(options: TcpProxyOptions): Promise<TcpProxy> {
    const proxy = new TcpProxy(options);
    await new Promise<void>((resolve, reject) => {
      proxy.server.once('error', reject);
      proxy.server.listen(options.port ?? 0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Open connections. */
  get connections(): number {
    return this.pairs.size;
  }

  /** Applies from now on, also to open connections; `{}` heals. */
  poison(toxics: Toxics): void {
    this.toxics = toxics;
  }

  /** Ends every connection, whatever it carries at that moment; with a reset if `how` says so. New ones are accepted. */
  cut(how: 'end' | 'reset' = 'reset'): void {
    for (const { client, server } of this.pairs) {
      for (const socket of [client, server]) {
        if (how === 'reset') socket.resetAndDestroy();
        else socket.destroy();
      }
    }
  }

  /** While true, every connection is cut and new ones are reset at once. */
  refuse(refusing: boolean): void {
    this.refusing = refusing;
    if (refusing) this.cut();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private accept(client: Socket): void {
    if (this.refusing) {
      client.resetAndDestroy();
      return;
    }
    this.accepted += 1;
    const server = connect(this.options.target);
    const pair: Pair = { client, server, lost: false };
    this.pairs.add(pair);
    const gone = () => {
      this.pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      // Broken connections are the purpose of this proxy; `close` follows every error.
      socket.on('error', () => undefined);
      socket.on('close', gone);
    }
    this.carry(pair, client, server);
    this.carry(pair, server, client);
    server.on('data', (bytes) => (this.delivered += bytes.byteLength));
  }

  /** Order is preserved: a piece leaves only after the one before it. */
  private carry(pair: Pair, from: Socket, to: Socket): void {
    let before: Promise<void> = Promise.resolve();
    from.on('data', (bytes) => {
      if (this.swallows(pair)) return;
      const { travelMs = 0, jitterMs = 0 } = this.toxics;
      const arrivesAt = performance.now() + travelMs + Math.random() * jitterMs;
      before = before.then(() => this.pass(pair, bytes, to, arrivesAt));
    });
    from.on('end', () => {
      if (!this.swallows(pair)) void before.then(() => to.end());
    });
  }

  /** Whether this connection carries nothing now. */
  private swallows(pair: Pair): boolean {
    if (this.toxics.halfOpen === 'for good') pair.lost = true;
    return pair.lost || this.toxics.halfOpen === true;
  }

  private async pass(pair: Pair, bytes: Buffer, to: Socket, arrivesAt: number): Promise<void> {
    const { latencyMs = 0, sliceBytes = bytes.byteLength } = this.toxics;
    const [least, most] = typeof sliceBytes === 'number' ? [sliceBytes, sliceBytes] : sliceBytes;
    const left = arrivesAt - performance.now();
    if (left > 1) await new Promise((resolve) => setTimeout(resolve, left));
    for (let start = 0; start < bytes.byteLength;) {
      const size = least + Math.floor(Math.random() * (most - least + 1));
      if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
      if (this.swallows(pair) || to.destroyed) return;
      to.write(bytes.subarray(start, start + size));
      start += size;
      // Two writes in one turn would leave as one piece.
      if (size < bytes.byteLength) await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
