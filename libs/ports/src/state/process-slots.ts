import type { SlotPlace, SlotRequest } from './state.js';

const sweepMs = 60_000;

/** Holders of one name with the times at which they expire, in milliseconds. A map keeps its keys in the order in which they came. */
interface Named {
  readonly held: Map<string, number>;
  readonly waiting: Map<string, number>;
}

/** Slots in the memory of one process, for stores that have only one owner. */
export class ProcessSlots {
  private readonly names = new Map<string, Named>();
  private sweepAt = 0;

  /** `onFree` is called with the name of a slot that was released. */
  constructor(
    private readonly now: () => number,
    private readonly onFree: (name: string) => void,
  ) {}

  acquire({ name, limit, holder, ttlMs, waitMs }: SlotRequest): boolean {
    const now = this.now();
    this.sweep(now);
    const { held, waiting } = this.named(name, now);
    if (!held.has(holder)) {
      if (waitMs !== undefined) waiting.set(holder, now + waitMs);
      const place = [...waiting.keys()].indexOf(holder);
      const before = place < 0 ? waiting.size : place;
      if (held.size + before >= limit) return false;
    }
    waiting.delete(holder);
    held.set(holder, now + ttlMs);
    return true;
  }

  release({ name, holder }: SlotPlace): void {
    const { held, waiting } = this.named(name, this.now());
    waiting.delete(holder);
    const freed = held.delete(holder);
    if (held.size + waiting.size === 0) this.names.delete(name);
    if (freed) this.onFree(name);
  }

  /** How many slots of a name are held. */
  count(name: string): number {
    return this.named(name, this.now()).held.size;
  }

  /** Current holders, as `<name> <holder>`. */
  holders(): readonly string[] {
    const now = this.now();
    return [...this.names.keys()].flatMap((name) => [...this.named(name, now).held.keys()].map((holder) => `${name} ${holder}`));
  }

  /** A name without what has expired. */
  private named(name: string, now: number): Named {
    const named = this.names.get(name) ?? { held: new Map<string, number>(), waiting: new Map<string, number>() };
    for (const times of [named.held, named.waiting]) for (const [holder, until] of times) if (until <= now) times.delete(holder);
    this.names.set(name, named);
    return named;
  }

  /** Names of runs are never requested again: once a minute, those that nothing holds or waits for are dropped. */
  private sweep(now: number): void {
    if (now < this.sweepAt) return;
    this.sweepAt = now + sweepMs;
    for (const name of [...this.names.keys()]) {
      const { held, waiting } = this.named(name, now);
      if (held.size + waiting.size === 0) this.names.delete(name);
    }
  }
}
