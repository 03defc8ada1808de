/**
 * Ids seen lately: at least the newest `most`, at most twice as many. Two generations, because the oldest of a set that is always full is
 * found by passing over the places of all that were removed.
 */
export class RecentIds {
  private newest = new Set<string>();
  private older = new Set<string>();

  constructor(private readonly most: number) {}

  /** Notes the id; false if it is among those seen lately. */
  add(id: string): boolean {
    if (this.newest.has(id) || this.older.has(id)) return false;
    this.newest.add(id);
    if (this.newest.size >= this.most) [this.older, this.newest] = [this.newest, new Set()];
    return true;
  }
}
