import { isOutage, type WorkerEntry } from '@conclave/contracts';

type Appended = 'appended' | 'refused';
type Append = (runId: string, entries: readonly WorkerEntry[]) => Promise<Appended>;

interface Waiting {
  readonly entries: readonly WorkerEntry[];
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

/** Most appends that become one. */
const mostTogether = 32;

/** Appends of one run happen in call order; those that come while one is under way become one. */
export class AppendsTogether {
  /** By run: what waits for the append that is under way. */
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(private readonly appendNow: Append) {}

  append(runId: string, entries: readonly WorkerEntry[]): Promise<Appended> {
    return new Promise((resolve, reject) => {
      const one: Waiting = { entries, resolve, reject };
      const before = this.waiting.get(runId);
      if (before) before.push(one);
      else void this.appendAll(runId, one);
    });
  }

  private async appendAll(runId: string, first: Waiting): Promise<void> {
    const waiting: Waiting[] = [];
    this.waiting.set(runId, waiting);
    for (let some = [first]; some.length > 0; some = waiting.splice(0, mostTogether)) await this.together(runId, some);
    this.waiting.delete(runId);
  }

  /** What is refused together, or cannot be appended, is appended one by one: it may be the fault of one of them. */
  private async together(runId: string, some: readonly Waiting[]): Promise<void> {
    if (some.length > 1) {
      try {
        const entries = some.flatMap((one) => one.entries);
        if ((await this.appendNow(runId, entries)) === 'appended') return some.forEach(({ resolve }) => resolve('appended'));
      } catch (error) {
        if (isOutage(error)) return some.forEach(({ reject }) => reject(error));
      }
    }
    for (const { entries, resolve, reject } of some) await this.appendNow(runId, entries).then(resolve, reject);
  }
}
