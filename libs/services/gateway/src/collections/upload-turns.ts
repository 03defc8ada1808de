import { Failure } from '@conclave/contracts';
import type { Request } from 'express';

/**
 * Lets so many documents arrive at the same time. Those that come meanwhile wait in order, unread: the sender is slowed by its own
 * connection, and no bytes pile up here. Runs have no part in it.
 */
export class UploadTurns {
  private arriving = 0;
  private readonly waiting: (() => void)[] = [];

  /**
   * @param most Documents that may arrive at the same time.
   * @param mostWaiting Documents that may wait for their turn.
   */
  constructor(
    private readonly most: number,
    private readonly mostWaiting: number,
  ) {}

  /** Throws UPLOADS_BUSY when too many wait already, CALL_CANCELLED when the client leaves while it waits, and whatever the work throws. */
  async take<T>(request: Request, retryAfterMs: number, work: () => Promise<T>): Promise<T> {
    if (this.arriving < this.most) this.arriving += 1;
    else await this.turn(request, retryAfterMs);
    try {
      return await work();
    } finally {
      // Whoever waits longest takes the place over as it is.
      const next = this.waiting.shift();
      if (next) next();
      else this.arriving -= 1;
    }
  }

  private turn(request: Request, retryAfterMs: number): Promise<void> {
    if (this.waiting.length >= this.mostWaiting)
      throw new Failure('UPLOADS_BUSY', `${this.waiting.length} documents wait for their turn.`, { retryAfterMs });
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        request.off('close', left);
        resolve();
      };
      const left = (): void => {
        this.waiting.splice(this.waiting.indexOf(begin), 1);
        reject(new Failure('CALL_CANCELLED', 'The client left while it waited to send.'));
      };
      this.waiting.push(begin);
      request.once('close', left);
    });
  }
}
