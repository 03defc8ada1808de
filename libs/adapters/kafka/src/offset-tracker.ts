/**
 * Which records of one partition were seen and which are finished. Offsets have gaps (compaction), so only offsets that
 * were really seen count; what may be committed is the end of the finished prefix.
 */
export class OffsetTracker {
  /** Seen and not below the position, in rising order, from `head` on. */
  private openOffsets: bigint[] = [];
  private head = 0;
  private readonly finished = new Set<bigint>();
  private highest: bigint | null = null;
  private reached: bigint | null = null;

  /** Notes an offset; false when it was seen before. Offsets come in rising order, except after a rejoin, which repeats some. */
  see(offset: bigint): boolean {
    if (this.highest !== null && offset <= this.highest) return false;
    if (this.reached !== null && offset < this.reached) return false;
    this.highest = offset;
    this.openOffsets.push(offset);
    return true;
  }

  /** The record is finished. Offsets that are not open are ignored. */
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

  /** Somebody else has finished everything below `position`: those are no business of ours any more. */
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

  /** The offset to commit: every record below it that was seen is finished. Null while nothing is. */
  get position(): bigint | null {
    return this.reached;
  }

  /** Records that are seen and not below the position. */
  get open(): number {
    return this.openOffsets.length - this.head;
  }
}
