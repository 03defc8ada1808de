import { Failure } from '@conclave/contracts';

/** Lets one piece of work run at a time, so that costly requests of an operator cannot pile up. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  /** @param most Pieces that may wait. */
  constructor(private readonly most: number) {}

  /** Throws OVERLOADED when too many wait already, and whatever the work throws. */
  take<T>(work: () => Promise<T>): Promise<T> {
    if (this.waiting > this.most) throw new Failure('OVERLOADED', 'Too many admin requests wait for the same topic.');
    this.waiting += 1;
    const turn = this.last.then(work).finally(() => (this.waiting -= 1));
    // The next one waits for the end of this one, however it ends; its own caller hears of the failure.
    this.last = turn.catch(() => undefined);
    return turn;
  }
}
