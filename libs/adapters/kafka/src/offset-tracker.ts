/**
 * Tracks the seen and finished records of one partition. Offsets have gaps (compaction), so only seen offsets count. The end of the
 * finished prefix may be committed.
 */
export class OffsetTracker {
  /** Seen and not below the position, ascending, starting at `head`. */
  private openOffsets: bigint[] = [];
  private head = 0;
  private readonly finished = new Set<bigint>();
  private highest: bigint | null = null;
  private reached: bigint | null = null;

  /** Records an offset; returns false when it was seen before. Offsets ascend, except after a rejoin, which repeats some. */
  see(offset: bigint): boolean {
    if (this.highest !== null && offset <= this.highest) return false;
    if (this.reached !== null && offset < this.reached) return false;
    this.highest = offset;
    this.openOffsets.push(offset);
    return true;
  }

  /** Marks a record finished. Ignores offsets that are not open. */
  finish(offset: bigint): void {
    if (this.reached !== null && offset < this.reached) return;
    this.finished.add(offset);
    for (let first = this.openOffsets[this.head]; first !== undefined && this.finished.delete(first); first = this.openOffsets[this.head]) {
      this.head += 1;
      this.reached = first + 1n;
    }
    if (this.head > 1024 && this.head * 2 > this.openOffsets.length) {
      this.openOffsets = this.openOffsets.slice(this.head);
      this.head = 0;
    }
  }

  /** Another member has finished everything below `position`: drops those offsets. */
  advanceTo(position: bigint): void {
    if (this.reached !== null && position <= this.reached) return;
    const open = this.openOffsets.slice(this.head).filter((offset) => offset >= position);
    for (const offset of this.finished) if (offset < position) this.finished.delete(offset);
    this.openOffsets = open;
    this.head = 0;
    this.reached = position;
    for (let first = open[0]; first !== undefined && this.finished.delete(first); first = open[this.head]) {
      this.head += 1;
      this.reached = first + 1n;
    }
  }

  /** The offset to commit: every seen record below it is finished. Null while none is finished. */
  get position(): bigint | null {
    return this.reached;
  }

  /** Number of seen records not below the position. */
  get open(): number {
    return this.openOffsets.length - this.head;
  }
}
