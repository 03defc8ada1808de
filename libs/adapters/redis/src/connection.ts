import type { ConnectionOptions } from 'node:tls';
import { Failure } from '@conclave/contracts';
import type { StoreMark } from '@conclave/ports';
import { Redis, type RedisOptions } from 'ioredis';
import type { Keys } from './keys.js';
import type { Script } from './scripts/script.js';
import { storeFailure } from './store-failure.js';

export interface ConnectionSettings {
  /** `redis://` or `rediss://`, with credentials and database number where needed. */
  readonly url: string;
  /** Certificates and names for TLS; TLS is used when this or `rediss://` is given. */
  readonly tls?: ConnectionOptions;
  /** Milliseconds after which an unanswered command fails with STORE_UNAVAILABLE. */
  readonly commandTimeoutMs: number;
}

/** Shortest time a command takes to fail while the connection is lost, in milliseconds. */
const lostPauseMs = 50;

const closedText = 'The store was closed.';

/** What scripts take. */
type Argument = string | number | Buffer;

/**
 * The connection that all commands go over, with one way to run scripts. Commands in flight when it breaks are sent
 * again after the reconnect (the client's default, which must stay: without it their promises never settle).
 */
export class Connection {
  private readonly redis: Redis;
  private mark: StoreMark | null = null;
  /** When the connection was lost, by the process clock; null while it stands or was never there. */
  private lostAt: number | null = null;
  private lastError: unknown;
  /** Commands that wait for the connection; they are told why it will not come, or null. */
  private readonly waiting = new Set<(reason: string | null) => void>();
  private closed = false;

  constructor(
    private readonly settings: ConnectionSettings,
    private readonly keys: Keys,
  ) {
    this.redis = new Redis(settings.url, clientOptions(settings));
    this.redis.on('ready', () => {
      this.lostAt = null;
      this.settleAll(null);
    });
    this.redis.on('close', () => (this.lostAt ??= performance.now()));
    // Without a listener the client prints to the console; each command reports its own failure with the cause.
    this.redis.on('error', (error: unknown) => (this.lastError = error));
  }

  /** Runs a script. `keys` and `parameters` become KEYS[2...] and ARGV[3...]. Throws STORE_UNAVAILABLE, STORE_FULL, STORE_REPLACED. */
  async run<Reply>(script: Script<Reply>, keys: readonly string[], parameters: readonly Argument[]): Promise<Reply> {
    const guard = this.mark ? [this.mark.storeId, this.mark.generation] : ['', ''];
    return this.runUnguarded(script, keys, parameters, guard);
  }

  /** The same on whatever store is there, also one that is not the store this process has seen: only to read or start its identity, and to rebuild it. */
  async runUnguarded<Reply>(
    script: Script<Reply>,
    keys: readonly string[],
    parameters: readonly Argument[],
    guard: readonly Argument[] = ['', ''],
  ): Promise<Reply> {
    const all = [this.keys.identity, ...keys, ...guard, ...parameters];
    return this.send(script.name, async (redis) => {
      try {
        return (await redis.evalsha(script.sha, keys.length + 1, ...all)) as Reply;
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return (await redis.eval(script.lua, keys.length + 1, ...all)) as Reply;
      }
    });
  }

  /** A plain command. `doing` names it in failures. */
  async send<T>(doing: string, command: (redis: Redis) => Promise<T>): Promise<T> {
    if (this.closed) throw new Failure('STORE_UNAVAILABLE', closedText);
    await this.connected(doing);
    try {
      return await command(this.redis);
    } catch (error) {
      throw storeFailure(error, doing);
    }
  }

  /**
   * Resolves when commands can be sent. Nothing is given to a client that is not connected: it would queue the command
   * and carry it out when nobody waits for it any more. Throws STORE_UNAVAILABLE after the command timeout, and soon in a long outage.
   */
  private async connected(doing: string): Promise<void> {
    if (this.redis.status === 'ready') return;
    const lostFor = this.lostAt === null ? 0 : performance.now() - this.lostAt;
    // Even then it takes a moment: a caller that tries again at once must not keep the process from reconnecting.
    const patienceMs = Math.max(lostPauseMs, this.settings.commandTimeoutMs - lostFor);
    const missing = await new Promise<string | null>((resolve) => {
      const settle = (reason: string | null): void => {
        clearTimeout(timer);
        this.waiting.delete(settle);
        resolve(reason);
      };
      const timer = setTimeout(() => settle('There is no connection to Redis.'), patienceMs);
      this.waiting.add(settle);
    });
    if (missing !== null) throw new Failure('STORE_UNAVAILABLE', missing, { cause: this.lastError, context: { doing } });
  }

  private settleAll(reason: string | null): void {
    for (const settle of this.waiting) settle(reason);
  }

  /** Remembers the store this process works on: from now on nothing runs on an empty, other or older one. */
  remember(mark: StoreMark | null): void {
    if (!mark) return;
    if (!this.mark || (this.mark.storeId === mark.storeId && this.mark.generation < mark.generation)) this.mark = mark;
  }

  /** Remembers a newer generation of the store this process is bound to. */
  follow(mark: StoreMark): void {
    if (this.mark) this.remember(mark);
  }

  /** A connection of its own for subscriptions. */
  subscriber(): Redis {
    return new Redis(this.settings.url, clientOptions(this.settings));
  }

  close(): void {
    this.closed = true;
    this.settleAll(closedText);
    this.redis.disconnect();
  }
}

const clientOptions = ({ tls, commandTimeoutMs }: ConnectionSettings): RedisOptions => ({
  commandTimeout: commandTimeoutMs,
  connectTimeout: commandTimeoutMs,
  // Milliseconds a closing connection may take; the client waits as long for one that is already gone.
  disconnectTimeout: 200,
  // A connection that takes commands and never answers is given up, so that a new one can be made.
  socketTimeout: commandTimeoutMs,
  // Commands wait for the reconnect until their own time is over, however many attempts that takes.
  maxRetriesPerRequest: null,
  retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 1_000) * (0.5 + Math.random() / 2),
  ...(tls ? { tls } : {}),
});
