interface Entry<T> {
  readonly thing: T;
  /** Whether it was added or read since it was last skipped. */
  used: boolean;
}

/**
 * An in-memory cache beside the file. Entries used since are skipped once when room is made; values that are not written yet are never
 * evicted.
 */
export class Kept<T> {
  private readonly things = new Map<string, Entry<T>>();

  constructor(
    private readonly most: number,
    private readonly mustStay: (thing: T) => boolean = () => false,
  ) {}

  get(name: string): T | undefined {
    const entry = this.things.get(name);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.thing;
  }

  set(name: string, thing: T): T {
    this.things.delete(name);
    this.things.set(name, { thing, used: true });
    if (this.things.size > this.most) this.makeRoom();
    return thing;
  }

  forget(name: string): void {
    this.things.delete(name);
  }

  /** Evicts everything that may be evicted. */
  forgetAll(): void {
    for (const [name, { thing }] of this.things) if (!this.mustStay(thing)) this.things.delete(name);
  }

  private makeRoom(): void {
    // Each entry is visited at most twice: one that was used, or must stay, moves to the end when it is skipped.
    let looks = 2 * this.things.size;
    for (const [name, entry] of this.things) {
      if (this.things.size <= this.most || looks === 0) return;
      looks -= 1;
      this.things.delete(name);
      if (!entry.used && !this.mustStay(entry.thing)) continue;
      entry.used = false;
      this.things.set(name, entry);
    }
  }
}
