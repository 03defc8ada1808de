/** An in-memory LRU cache beside the file; values that are not written yet are never evicted. */
export class Kept<T> {
  private readonly things = new Map<string, T>();

  constructor(
    private readonly most: number,
    private readonly mustStay: (thing: T) => boolean = () => false,
  ) {}

  get(name: string): T | undefined {
    const thing = this.things.get(name);
    if (thing === undefined) return undefined;
    this.things.delete(name);
    this.things.set(name, thing);
    return thing;
  }

  set(name: string, thing: T): T {
    this.things.delete(name);
    this.things.set(name, thing);
    if (this.things.size > this.most) this.makeRoom();
    return thing;
  }

  forget(name: string): void {
    this.things.delete(name);
  }

  /** Evicts everything that may be evicted. */
  forgetAll(): void {
    for (const [name, thing] of this.things) if (!this.mustStay(thing)) this.things.delete(name);
  }

  private makeRoom(): void {
    for (const [name, thing] of this.things) {
      if (this.things.size <= this.most) return;
      if (!this.mustStay(thing)) this.things.delete(name);
    }
  }
}
