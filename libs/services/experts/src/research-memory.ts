import { createHash } from 'node:crypto';
import { Failure } from '@conclave/contracts';

/** Where results of searches are kept for a while, bound to one tenant by whoever makes it. */
export interface SearchCache {
  /** What was written under the key, null where nothing is or its time is over. */
  read(key: string): Promise<string | null>;
  write(key: string, value: string, ttlMs: number): Promise<void>;
}

/** Key of something that depends on all of these: 200 bits of a SHA-256 behind a word for people. */
export const cacheKey = (what: string, ...parts: readonly (string | number)[]): string =>
  `${what}/${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 50)}`;

/** How long something that was found may be shared inside a run, milliseconds: longer than a run lasts. */
const sharedForMs = 600_000;
const mostShared = 200;

/**
 * Equal work of one run is done once in this process: who comes meanwhile waits for it, who comes later gets it. A failure is
 * shared with those who wait, but not kept; work that was given up by the one who did it is taken over by one who waits.
 */
export class SharedWork {
  private readonly works = new Map<string, { readonly work: Promise<unknown>; readonly until: number }>();

  constructor(private readonly now: () => number = Date.now) {}

  /** `perform` gets the caller's own signal. Throws CALL_CANCELLED once that aborts, and what `perform` throws. */
  async share<T>(key: string, signal: AbortSignal, perform: () => Promise<T>): Promise<{ readonly value: T; readonly shared: boolean }> {
    for (;;) {
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      const known = this.works.get(key);
      if (!known || known.until <= this.now()) return { value: await this.lead(key, perform), shared: false };
      try {
        return { value: (await unlessAborted(known.work, signal)) as T, shared: true };
      } catch (error) {
        // Cancelled or broken by the one who led: that says nothing about the work itself.
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
