import type { Hints } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Keys } from './keys.js';
import { storeFailure } from './store-failure.js';

type Listener = (payload: string) => void;

/** Hints over Redis pub/sub: one subscriber connection for all listeners of a process, opened when first needed. */
export class RedisHints implements Hints {
  private readonly listeners = new Map<string, Set<Listener>>();
  private subscriber: ReturnType<RedisConnection['subscriber']> | null = null;

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
  ) {}

  async publish(channel: string, payload: string): Promise<void> {
    await this.connection.send('publish', (redis) => redis.publish(this.keys.channel(channel), payload));
  }

  async subscribe(channel: string, listener: Listener): Promise<() => Promise<void>> {
    const name = this.keys.channel(channel);
    const listeners = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, listeners);
    // One wrapper per call, so that the same function can listen twice and unsubscribe once.
    const own: Listener = (payload) => listener(payload);
    listeners.add(own);
    // Sent even when already subscribed: the reply confirms the subscription.
    try {
      await this.connection.send('subscribe', () => this.connected().subscribe(name));
    } catch (error) {
      listeners.delete(own);
      throw error;
    }
    return async () => {
      listeners.delete(own);
      if (listeners.size > 0 || this.listeners.get(name) !== listeners) return;
      this.listeners.delete(name);
      await this.subscriber?.unsubscribe(name).catch((error: unknown) => {
        throw storeFailure(error, 'unsubscribe');
      });
    };
  }

  close(): void {
    this.subscriber?.disconnect();
  }

  private connected(): ReturnType<RedisConnection['subscriber']> {
    if (!this.subscriber) {
      this.subscriber = this.connection.subscriber();
      // The command connection reports outages; a lost hint costs only a poll interval.
      this.subscriber.on('error', () => undefined);
      this.subscriber.on('message', (name: string, payload: string) => {
        for (const listener of this.listeners.get(name) ?? []) listener(payload);
      });
    }
    return this.subscriber;
  }
}
