import { wholeMs } from './caches.js';
import type { Once, OnceClaim } from './once.js';

export class MemoryOnce implements Once {
  private readonly held = new Map<string, { readonly holder: string; readonly until: number }>();

  constructor(private readonly now: () => number) {}

  async claim({ tenant, name, holder, ttlMs }: OnceClaim): Promise<{ readonly mine: boolean; readonly holder: string }> {
    const key = JSON.stringify([tenant, name]);
    const until = ttlMs === null ? Infinity : this.now() + wholeMs(ttlMs);
    const held = this.held.get(key);
    if (held && held.until > this.now()) return { mine: held.holder === holder, holder: held.holder };
    this.held.set(key, { holder, until });
    return { mine: true, holder };
  }
}
