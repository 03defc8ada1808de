import { createHash } from 'node:crypto';
import { createConnection, type Socket } from 'node:net';

/** One command as received by the server. */
export interface SeenCommand {
  /** Name of our script, or of the plain command. */
  readonly name: string;
  /** Its first argument, as the server quotes it. */
  readonly first: string;
}

/** `+1700000000.123456 [0 127.0.0.1:50000] "evalsha" "..." ...` */
const line = /^\+[\d.]+ \[\d+ (\S+)\] "([^"]+)"(?: "((?:[^"\\]|\\.)*)")?/;
const scriptName = /^-- ([a-z-]+)/;

/**
 * Records the requests of a Redis server with its MONITOR command, without changes to the product. Scripts are recognised by the name in
 * their first line once their source was sent; commands inside scripts are not listed.
 */
export class RedisMonitor {
  private readonly names = new Map<string, string>();
  private seen: SeenCommand[] = [];
  private readonly waiting: { readonly channel: string; readonly resolve: () => void }[] = [];
  private rest = '';

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('utf8').on('data', (text: string) => this.take(text));
  }

  static async open(url: string): Promise<RedisMonitor> {
    const { hostname, port } = new URL(url);
    const socket = createConnection({ host: hostname, port: Number(port) });
    await new Promise<void>((resolve, reject) => socket.once('error', reject).once('connect', resolve));
    const monitor = new RedisMonitor(socket);
    await new Promise<void>((resolve) => {
      socket.once('data', () => resolve());
      socket.write('MONITOR\r\n');
    });
    return monitor;
  }

  /** All requests before a message on this channel, which `send` publishes; without the message itself. */
  async until(channel: string, send: () => Promise<void>): Promise<readonly SeenCommand[]> {
    const arrived = new Promise<void>((resolve) => this.waiting.push({ channel, resolve }));
    await send();
    await arrived;
    const index = this.seen.findIndex(({ name, first }) => name === 'publish' && first.endsWith(channel));
    const before = this.seen.slice(0, index);
    this.seen = this.seen.slice(index + 1);
    return before;
  }

  /** The name as known by now: a script that is new to the server is first requested by its hash, and its source follows. */
  nameOfSeen({ name, first }: SeenCommand): string {
    return name === 'evalsha' ? (this.names.get(first) ?? name) : name;
  }

  close(): void {
    this.socket.destroy();
  }

  private take(text: string): void {
    const lines = (this.rest + text).split('\r\n');
    this.rest = lines.pop()!;
    for (const one of lines) {
      const [, address, command, first = ''] = line.exec(one) ?? [];
      if (command === undefined || address === 'lua') continue;
      this.seen.push({ name: this.nameOf(command.toLowerCase(), first), first });
      const arrived = this.waiting.findIndex(({ channel }) => command.toLowerCase() === 'publish' && first.endsWith(channel));
      if (arrived >= 0) this.waiting.splice(arrived, 1)[0]!.resolve();
    }
  }

  private nameOf(command: string, first: string): string {
    if (command === 'evalsha') return this.names.get(first) ?? command;
    const name = command === 'eval' ? scriptName.exec(first)?.[1] : undefined;
    if (name === undefined) return command;
    const lua = JSON.parse(`"${first}"`) as string;
    this.names.set(createHash('sha1').update(lua).digest('hex'), name);
    return name;
  }
}
