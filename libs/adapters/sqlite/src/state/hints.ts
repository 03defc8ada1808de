import type { Hints } from '@conclave/ports';

/** Hints inside the process that owns the store. Listeners are called in a later turn, so never inside a write. */
export class ProcessHints implements Hints {
  readonly certain = true;
  private readonly listeners = new Map<string, Set<(payload: string) => void>>();

  publish(channel: string, payload: string): Promise<void> {
    this.send(channel, payload);
    return Promise.resolve();
  }

  send(channel: string, payload: string): void {
    for (const listener of this.listeners.get(channel) ?? []) {
      setImmediate(() => {
        if (this.listeners.get(channel)?.has(listener)) listener(payload);
      });
    }
  }

  subscribe(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>> {
    const own = (payload: string) => listener(payload);
    const listeners = this.listeners.get(channel) ?? new Set();
    this.listeners.set(channel, listeners.add(own));
    return Promise.resolve(() => {
      listeners.delete(own);
      return Promise.resolve();
    });
  }

  close(): void {
    this.listeners.clear();
  }
}
