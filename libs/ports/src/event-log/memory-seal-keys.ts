import { destroyedKey, type SealKeys } from './seals.js';

/** In-memory keys: the part that outlives a process. */
export class MemorySealKeys implements SealKeys {
  private readonly keys = new Map<string, string>();

  async read(runId: string): Promise<string | null> {
    return this.keys.get(runId) ?? null;
  }

  async keep(runId: string, offered: string): Promise<string> {
    const held = this.keys.get(runId) ?? offered;
    this.keys.set(runId, held);
    return held;
  }

  async destroy(runId: string): Promise<boolean> {
    if (!this.keys.has(runId)) return false;
    this.keys.set(runId, destroyedKey);
    return true;
  }
}
