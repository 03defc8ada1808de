import type { Hints } from './state.js';

/** Messages between processes that share one memory. A listener is called in a later turn, so it never runs inside a write. */
export class MemoryHints implements Hints {
  private readonly listeners = new Map<string, Set<(payload: string) => void>>();

  async publish(channel: string, payload: string): Promise<void> {
    this.send(channel, payload);
  }

  send(channel: string, payload: string): void {
    for (const listener of this.listeners.get(channel) ?? []) {
      queueMicrotask(() => {
        if (this.listeners.get(channel)?.has(listener)) listener(payload);
      });
    }
  }

  async subscribe(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>> {
    const own = (payload: string) => listener(payload);
    const listeners = this.listeners.get(channel) ?? new Set();
    this.listeners.set(channel, listeners.add(own));
    return async () => void listeners.delete(own);
  }

  /** Listeners of all channels. */
  get listening(): number {
    return [...this.listeners.values()].reduce((sum, listeners) => sum + listeners.size, 0);
  }
}
