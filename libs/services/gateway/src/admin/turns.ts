import { Failure } from '@conclave/contracts';

/** Runs one task at a time, so that expensive operator requests cannot pile up. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  /** @param most Tasks that may wait. */
  constructor(private readonly most: number) {}

  /** Throws OVERLOADED when too many tasks are waiting; errors of the work pass through. */
  take<T>(work: () => Promise<T>): Promise<T> {
    if (this.waiting > this.most) throw new Failure('OVERLOADED', 'Too many admin requests wait for the same topic.');
    this.waiting += 1;
    const turn = this.last.then(work).finally(() => (this.waiting -= 1));
    // The next task starts when this one settles; a failure reaches only this task's caller.
    this.last = turn.catch(() => undefined);
    return turn;
  }
}
