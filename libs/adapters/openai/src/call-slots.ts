import { Failure } from '@conclave/contracts';

/** At most `size` holders at a time, first come, first served. */
export class CallSlots {
  private held = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly size: number) {}

  /** Resolves with the function that releases the slot (safe to call twice). Throws CALL_CANCELLED when `signal` aborts first. */
  async take(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw new Failure('CALL_CANCELLED');
    if (this.held < this.size) this.held += 1;
    else await this.queue(signal);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const next = this.waiting.shift();
      // Passes the slot straight to the next in line, so that a newcomer cannot overtake.
      if (next) next();
      else this.held -= 1;
    };
  }

  private queue(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(enter), 1);
        reject(new Failure('CALL_CANCELLED'));
      };
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.push(enter);
    });
  }
}
