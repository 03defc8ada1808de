import { systemClock, type Clock } from '@conclave/ports';

/** The real clock, moved forward as far as a test asks; waits take real time. */
export class ShiftedClock implements Clock {
  private shiftedBy = 0;

  now(): number {
    return systemClock.now() + this.shiftedBy;
  }

  random(): number {
    return systemClock.random();
  }

  after(ms: number, call: () => void): () => void {
    return systemClock.after(ms, call);
  }

  shift(ms: number): void {
    this.shiftedBy += ms;
  }
}
