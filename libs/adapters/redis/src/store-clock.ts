/** Milliseconds after which what was heard of the store's clock is too old: each renewal of a lease says it anew. */
const knownMs = 5_000;
/** Milliseconds that a later word may lie behind an earlier one because it took longer on its way. */
const jitterMs = 5;

/**
 * The store's clock as this process knows it without asking: what the store said last, and what has passed here since. It lies behind the
 * store's by the time that the answer took, and never before it.
 */
export class StoreClock {
  /** Store's time at the zero of this process' own clock. */
  private offset: number | null = null;
  private heardAt = 0;

  constructor(private readonly own: () => number = () => performance.now()) {}

  /** The store has just said what time it is, in milliseconds since 1970. */
  hear(storeNow: number): void {
    this.heardAt = this.own();
    const offset = storeNow - this.heardAt;
    const before = this.offset;
    this.offset = before !== null && offset < before && offset > before - jitterMs ? before : offset;
  }

  /** Milliseconds since 1970, null where nothing was heard lately. */
  now(): number | null {
    const own = this.own();
    return this.offset === null || own - this.heardAt > knownMs ? null : Math.floor(this.offset + own);
  }
}
