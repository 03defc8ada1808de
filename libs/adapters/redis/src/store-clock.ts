/** Milliseconds after which the last reading of the store's clock is too old; each lease renewal reads it again. */
const knownMs = 5_000;
/** Milliseconds by which a later reading may be behind an earlier one because it took longer to arrive. */
const jitterMs = 5;

/**
 * The store's clock without a request: its last reading plus the time passed here since. It lags the store's clock by the time the reply
 * took and is never ahead of it.
 */
export class StoreClock {
  /** The store's time at zero of this process's own clock. */
  private offset: number | null = null;
  private heardAt = 0;

  constructor(private readonly own: () => number = () => performance.now()) {}

  /** Takes a new reading of the store's clock, in milliseconds since 1970. */
  hear(storeNow: number): void {
    this.heardAt = this.own();
    const offset = storeNow - this.heardAt;
    const before = this.offset;
    this.offset = before !== null && offset < before && offset > before - jitterMs ? before : offset;
  }

  /** Milliseconds since 1970; null without a recent reading. */
  now(): number | null {
    const own = this.own();
    return this.offset === null || own - this.heardAt > knownMs ? null : Math.floor(this.offset + own);
  }
}
