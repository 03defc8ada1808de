import { createHash } from 'node:crypto';
import { Failure } from '@conclave/contracts';

/** Key derived from all parts: a readable word and 200 bits of a SHA-256. */
export const cacheKey = (what: string, ...parts: readonly (string | number)[]): string =>
  `${what}/${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 50)}`;

/** Milliseconds for which a result may be shared inside a run: longer than a run lasts. */
const sharedForMs = 600_000;
const mostShared = 200;

/**
 * Does equal work of one run once per process: concurrent callers wait for it, later callers get the stored result. A failure is
 * shared with waiting callers but not stored; if the working caller is cancelled, a waiting one takes over.
 */
export class SharedWork {
  private readonly works = new Map<string, { readonly work: Promise<unknown>; readonly until: number }>();

  constructor(private readonly now: () => number = Date.now) {}

  /** `perform` gets the caller's own signal. Throws CALL_CANCELLED when that aborts; errors of `perform` pass through. */
  async share<T>(key: string, signal: AbortSignal, perform: () => Promise<T>): Promise<{ readonly value: T; readonly shared: boolean }> {
    for (;;) {
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      const known = this.works.get(key);
      if (!known || known.until <= this.now()) return { value: await this.lead(key, perform), shared: false };
      try {
        return { value: (await unlessAborted(known.work, signal)) as T, shared: true };
      } catch (error) {
        // The leading caller was cancelled or hit a bug, which says nothing about the work itself.
        if (error instanceof Failure && (error.code !== 'CALL_CANCELLED' || signal.aborted)) throw error;
      }
    }
  }

  private async lead<T>(key: string, perform: () => Promise<T>): Promise<T> {
    const work = perform();
    const entry = { work, until: this.now() + sharedForMs };
    this.works.delete(key);
    this.works.set(key, entry);
    for (const oldest of this.works.keys()) {
      if (this.works.size <= mostShared) break;
      this.works.delete(oldest);
    }
    try {
      return await work;
    } catch (error) {
      if (this.works.get(key) === entry) this.works.delete(key);
      throw error;
    }
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new Failure('CALL_CANCELLED'));
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
