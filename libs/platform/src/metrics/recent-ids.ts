/**
 * Ids seen recently: at least the newest `most`, at most twice as many. Uses two generations: to find the oldest id of a single full set,
 * the set would have to pass over the places of all removed ids.
 */
export class RecentIds {
  private newest = new Set<string>();
  private older = new Set<string>();

  constructor(private readonly most: number) {}

  /** Adds the id; returns false if it was seen recently. */
  add(id: string): boolean {
    if (this.newest.has(id) || this.older.has(id)) return false;
    this.newest.add(id);
    if (this.newest.size >= this.most) [this.older, this.newest] = [this.newest, new Set()];
    return true;
  }
}
