import { Failure } from '@conclave/contracts';
import type { StoreMark } from '@conclave/ports';
import type { Cluster, Redis } from 'ioredis';
import { openClient, type ConnectionSettings } from './client.js';
import type { Bucket, Keys } from './keys.js';
import { Replicas } from './replicas.js';
import type { Script } from './scripts/script.js';
import { StoreClock } from './store-clock.js';
import { storeFailure } from './store-failure.js';

/** Shortest time a command takes to fail while the connection is lost, in milliseconds. */
const lostPauseMs = 50;

const closedText = 'The store was closed.';

/** A script argument. */
type Argument = string | number | Buffer;

/**
 * The connection of all commands and scripts. Commands in flight when it breaks are sent again after the reconnect (the client's
 * default, which must stay: without it their promises never settle).
 */
export class RedisConnection {
  private readonly redis: Redis | Cluster;
  private readonly replicas: Replicas;
  private readonly subscribers: (Redis | Cluster)[] = [];
  /** The mark of the store as last read, by bucket; each bucket has its own generation. */
  private readonly marks = new Map<number, StoreMark>();
  /** When the connection was lost, by the process clock; null while connected or before the first connect. */
  private lostAt: number | null = null;
  private lastError: unknown;
  /** Commands that wait for the connection; called with null when it is ready, else with the reason. */
  private readonly waiting = new Set<(reason: string | null) => void>();
  private closed = false;
  /** The store's clock from its last reading; unknown while the store is unreachable. */
  readonly clock = new StoreClock();

  constructor(
    private readonly settings: ConnectionSettings,
    private readonly keys: Keys,
  ) {
    this.redis = openClient(settings);
    this.replicas = new Replicas(this.redis, settings.replicas ?? 0);
    this.redis.on('ready', () => {
      if (this.lostAt !== null && !settings.cluster) this.renewSubscribers();
      this.lostAt = null;
      this.settleAll(null);
    });
    this.redis.on('close', () => (this.lostAt ??= performance.now()));
    // Without a listener the client prints to the console; each command reports its own failure with the cause.
    this.redis.on('error', (error: Error) => {
      // Emitted in each round in which no sentinel helped; the cause is in the events of the individual sentinels.
      if (!error.message.startsWith('All sentinels are unreachable')) this.lastError = error;
    });
    this.redis.on('sentinelError', (error: Error) => (this.lastError = error));
  }

  /** Runs a script in a bucket with KEYS[2...] and ARGV[3...]. Throws STORE_UNAVAILABLE, STORE_FULL, STORE_REPLACED. */
  async run<Reply>(at: Bucket, script: Script<Reply>, keys: readonly string[], parameters: readonly Argument[]): Promise<Reply> {
    return this.runUnguarded(at, script, keys, parameters, this.guardOf(at));
  }

  private guardOf(at: Bucket): readonly Argument[] {
    const mark = this.marks.get(at.n);
    return mark ? [mark.storeId, mark.generation] : ['', ''];
  }

  /** Runs a script in every bucket concurrently; replies are in the order of the buckets. One server gets all of it in one write. */
  everywhere<Reply>(
    script: Script<Reply>,
    keys: (at: Bucket) => readonly string[],
    parameters: readonly Argument[] | ((at: Bucket) => readonly Argument[]),
  ): Promise<Reply[]> {
    const given = typeof parameters === 'function' ? parameters : () => parameters;
    const { buckets } = this.keys;
    if (this.settings.cluster) return Promise.all(buckets.map((at) => this.run(at, script, keys(at), given(at))));
    return this.write(script.name, buckets[0]!.identity, async (redis) => {
      const pipeline = redis.pipeline();
      for (const at of buckets) {
        const all = [at.identity, ...keys(at), ...this.guardOf(at), ...given(at)];
        pipeline.evalsha(script.sha, keys(at).length + 1, ...all);
      }
      const replies = (await pipeline.exec()) ?? [];
      return Promise.all(
        replies.map(([error, reply], n) => {
          if (!error) return reply as Reply;
          // Of a pipeline that a lost connection has cut, the client sends nothing again.
          if (!/^NOSCRIPT/.test(error.message) && error.name !== 'AbortError') throw error;
          const at = buckets[n]!;
          return this.run(at, script, keys(at), given(at));
        }),
      );
    });
  }

  /** Like `run`, without the identity check: only to read or start the identity, and to rebuild the store. */
  async runUnguarded<Reply>(
    at: Bucket,
    script: Script<Reply>,
    keys: readonly string[],
    parameters: readonly Argument[],
    guard: readonly Argument[] = ['', ''],
  ): Promise<Reply> {
    const all = [at.identity, ...keys, ...guard, ...parameters];
    return this.write(script.name, at.identity, async (redis) => {
      try {
        return (await redis.evalsha(script.sha, keys.length + 1, ...all)) as Reply;
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return (await redis.eval(script.lua, keys.length + 1, ...all)) as Reply;
      }
    });
  }

  /** Whether commands can be sent now. */
  get stands(): boolean {
    return !this.closed && this.redis.status === 'ready';
  }

  /** Runs a command that may write at the node of `key`; resolves when the required replicas have the write. */
  write<T>(doing: string, key: string, command: (redis: Redis | Cluster) => Promise<T>): Promise<T> {
    return this.send(doing, async (redis) => {
      const reply = await command(redis);
      await this.replicas.have(key);
      return reply;
    });
  }

  /** A plain command that writes nothing durable. `doing` names it in failures. */
  async send<T>(doing: string, command: (redis: Redis | Cluster) => Promise<T>): Promise<T> {
    if (this.closed) throw new Failure('STORE_UNAVAILABLE', closedText);
    await this.connected(doing);
    try {
      return await command(this.redis);
    } catch (error) {
      throw storeFailure(error, doing);
    }
  }

  /**
   * Resolves when commands can be sent. A disconnected client would queue a command and execute it after its caller gave up.
   * Throws STORE_UNAVAILABLE after the command timeout, sooner in a long outage.
   */
  private async connected(doing: string): Promise<void> {
    if (this.redis.status === 'ready') return;
    const lostFor = this.lostAt === null ? 0 : performance.now() - this.lostAt;
    // Never immediately: a caller in a tight retry loop must not keep the process from reconnecting.
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

  /** Binds this process to a store: from now on, scripts in the bucket refuse an empty, different or older one. */
  remember(at: Bucket, mark: StoreMark): void {
    const known = this.marks.get(at.n);
    if (!known || (known.storeId === mark.storeId && known.generation < mark.generation)) this.marks.set(at.n, mark);
  }

  /** Notes a newer generation of the store, if this process is bound to it. */
  follow(at: Bucket, mark: StoreMark): void {
    if (this.marks.has(at.n)) this.remember(at, mark);
  }

  /** Opens a separate connection for subscriptions. */
  subscriber(): Redis | Cluster {
    const subscriber = openClient(this.settings);
    this.subscribers.push(subscriber);
    return subscriber;
  }

  /** A subscriber sends nothing, so it does not notice that its server hangs or was replaced. The client subscribes again by itself. */
  private renewSubscribers(): void {
    for (const subscriber of this.subscribers) if (subscriber.status === 'ready') subscriber.disconnect(true);
  }

  close(): void {
    this.closed = true;
    this.settleAll(closedText);
    this.redis.disconnect();
  }
}
