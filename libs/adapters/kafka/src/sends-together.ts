interface Waiting<T> {
  readonly records: readonly T[];
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Sends everything requested in one turn of the event loop together, in call order: a broker handles the requests of a connection one after
 * the other, and handlers that waited for the same answer of a store end in the same turn.
 */
export class SendsTogether<T> {
  private waiting: Waiting<T>[] = [];

  constructor(
    private readonly sendNow: (records: readonly T[]) => Promise<void>,
    /** Whether a failure may be caused by a single record: then the others are sent without it. */
    private readonly mayBeOfOne: (error: unknown) => boolean,
  ) {}

  /** Resolves when all of these records are stored. */
  send(records: readonly T[]): Promise<void> {
    if (records.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(() => void this.sendAll(this.waiting.splice(0)));
      this.waiting.push({ records, resolve, reject });
    });
  }

  private async sendAll(some: readonly Waiting<T>[]): Promise<void> {
    try {
      await this.sendNow(some.flatMap(({ records }) => records));
      for (const { resolve } of some) resolve();
    } catch (error) {
      if (some.length === 1 || !this.mayBeOfOne(error)) for (const { reject } of some) reject(error);
      else for (const { records, resolve, reject } of some) await this.sendNow(records).then(resolve, reject);
    }
  }
}
