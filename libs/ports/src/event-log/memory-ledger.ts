import { Failure } from '@conclave/contracts';
import type { DeliveryKey, DeliveryLedger } from './event-log.js';

interface Entry {
  attempts: number;
  readonly openers: Set<string>;
}

/** The part of the in-memory delivery ledger that all processes share. After `died`, a process counts as alive until its lease expires. */
export class MemoryDeliveries {
  private readonly entries = new Map<string, Entry>();
  private hangs = false;
  private readonly deadSince = new Map<string, number>();
  /** Makes every call fail as if the store did not answer. */
  down = false;

  constructor(private readonly options: { readonly leaseMs: number; readonly now: () => number } = { leaseMs: 0, now: Date.now }) {}

  /** The process dies: its lease is no longer renewed. */
  died(processId: string): void {
    this.deadSince.set(processId, this.options.now());
  }

  /** Every later call never settles, as with a store behind a half-open connection. */
  hang(): void {
    this.hangs = true;
  }

  /** Records that were begun and not finished. */
  get open(): number {
    return this.entries.size;
  }

  ledger(processId: string): Required<DeliveryLedger> {
    return {
      unended: async (key) => {
        await this.answer();
        return [...(this.entries.get(nameOf(key))?.openers ?? [])].filter((opener) => opener !== processId).length;
      },
      begin: async (key) => {
        await this.answer();
        const entry = this.entry(key);
        // A process only begins a record again if it never closed it: this is still the same attempt.
        if (!entry.openers.has(processId)) entry.attempts += 1;
        entry.openers.add(processId);
        const others = [...entry.openers].filter((opener) => opener !== processId);
        const deaths = others.filter((opener) => this.leaseOver(opener)).length;
        return { attempts: entry.attempts, deaths, suspects: others.length - deaths };
      },
      failed: async (key) => {
        await this.answer();
        this.entries.get(nameOf(key))?.openers.delete(processId);
      },
      released: async (key) => {
        await this.answer();
        const entry = this.entries.get(nameOf(key));
        if (!entry?.openers.delete(processId)) return;
        entry.attempts -= 1;
        if (entry.attempts === 0) this.entries.delete(nameOf(key));
      },
      done: async (key) => {
        await this.answer();
        this.entries.delete(nameOf(key));
      },
    };
  }

  private entry(key: DeliveryKey): Entry {
    const name = nameOf(key);
    let entry = this.entries.get(name);
    if (!entry) {
      entry = { attempts: 0, openers: new Set() };
      this.entries.set(name, entry);
    }
    return entry;
  }

  private async answer(): Promise<void> {
    if (this.hangs) await new Promise(() => {});
    if (this.down) throw new Failure('STORE_UNAVAILABLE');
  }

  private leaseOver(processId: string): boolean {
    const since = this.deadSince.get(processId);
    return since !== undefined && this.options.now() - since >= this.options.leaseMs;
  }
}

const nameOf = ({ group, record }: DeliveryKey): string => JSON.stringify([group, record]);
