import type { DeliveryKey, DeliveryLedger } from '../event-log/event-log.js';
import { ProcessSlots } from './process-slots.js';
import type { Leases, SlotPlace, SlotRequest } from './state.js';

/** Leases in memory, for a store with one owner: every earlier holder is dead then, and nothing has to survive a restart. */
export class MemoryLeases implements Leases {
  private readonly processes = new Map<string, { readonly classes: readonly string[]; readonly until: number }>();
  private readonly slots: ProcessSlots;

  constructor(
    private readonly now: () => number,
    hints: { send(channel: string, payload: string): void },
  ) {
    this.slots = new ProcessSlots(now, (name) => hints.send('slot', name));
  }

  async renewProcess({ id, classes, ttlMs }: Parameters<Leases['renewProcess']>[0]): Promise<void> {
    this.processes.set(id, { classes: [...classes], until: this.now() + ttlMs });
  }

  async endProcess(id: string): Promise<void> {
    this.processes.delete(id);
  }

  async alive(processId: string): Promise<boolean> {
    return this.leftMs(processId) > 0;
  }

  /** Milliseconds until the lease of the process ends; 0 when it has none. */
  leftMs(processId: string): number {
    return Math.max(0, (this.processes.get(processId)?.until ?? 0) - this.now());
  }

  async liveWorkers(taskClass: string): Promise<number> {
    const now = this.now();
    return [...this.processes.values()].filter(({ until, classes }) => until > now && classes.includes(taskClass)).length;
  }

  async live(): Promise<readonly string[]> {
    return this.living();
  }

  /** Ids of all processes whose leases have not ended. */
  living(): readonly string[] {
    return [...this.processes.keys()].filter((id) => this.leftMs(id) > 0);
  }

  async slotsHeld(name: string): Promise<number> {
    return this.slots.count(name);
  }

  async acquireSlot(slot: SlotRequest): Promise<boolean> {
    return this.slots.acquire(slot);
  }

  async releaseSlot(slot: SlotPlace): Promise<void> {
    this.slots.release(slot);
  }

  /** Current slot holders, as `<name> <holder>`. */
  heldSlots(): readonly string[] {
    return this.slots.holders();
  }
}

interface DeliveryCounts {
  attempts: number;
  readonly openers: Set<string>;
}

/** Delivery ledger of processes with leases: an opener without one is dead. */
export class LeasedDeliveries {
  private readonly counts = new Map<string, DeliveryCounts>();
  private readonly done = new Set<string>();

  constructor(private readonly alive: (processId: string) => boolean) {}

  /**
   * Records in progress, as `<group> <record>`: begun and not done since. Excludes a record that was done before and whose later openers
   * are all dead: it never returns, and real stores let such counts expire.
   */
  open(): readonly string[] {
    return [...this.counts].filter(([name, { openers }]) => !this.done.has(name) || [...openers].some(this.alive)).map(([name]) => name);
  }

  ledger(processId: string): Required<DeliveryLedger> {
    const counts = this.counts;
    const nameOf = ({ group, record }: DeliveryKey): string => `${group} ${record}`;
    return {
      unended: async (delivery) => [...(counts.get(nameOf(delivery))?.openers ?? [])].filter((opener) => opener !== processId).length,
      begin: async (delivery) => {
        const entry = counts.get(nameOf(delivery)) ?? { attempts: 0, openers: new Set<string>() };
        counts.set(nameOf(delivery), entry);
        // A process only begins a record again if it never closed it: this is still the same attempt.
        if (!entry.openers.has(processId)) entry.attempts += 1;
        entry.openers.add(processId);
        const others = [...entry.openers].filter((opener) => opener !== processId);
        const deaths = others.filter((opener) => !this.alive(opener)).length;
        return { attempts: entry.attempts, deaths, suspects: others.length - deaths };
      },
      failed: async (delivery) => void counts.get(nameOf(delivery))?.openers.delete(processId),
      released: async (delivery) => {
        const entry = counts.get(nameOf(delivery));
        if (!entry?.openers.delete(processId)) return;
        entry.attempts -= 1;
        if (entry.attempts === 0) counts.delete(nameOf(delivery));
      },
      done: async (delivery) => {
        counts.delete(nameOf(delivery));
        this.done.add(nameOf(delivery));
      },
    };
  }
}
