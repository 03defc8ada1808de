import { type Leases, ProcessSlots, type SlotRequest } from '@conclave/ports';
import type { ProcessHints } from './hints.js';

interface LeaseRow {
  readonly classes: readonly string[];
  readonly until: number;
}

/**
 * Leases in memory: the store has one owner, so every earlier holder is dead and nothing has to survive a restart.
 */
export class ProcessLeases implements Leases {
  private readonly processes = new Map<string, LeaseRow>();
  private readonly slots: ProcessSlots;

  constructor(
    private readonly now: () => number,
    hints: ProcessHints,
  ) {
    this.slots = new ProcessSlots(now, (name) => void hints.publish('slot', name));
  }

  renewProcess(process: { readonly id: string; readonly classes: readonly string[]; readonly ttlMs: number }): Promise<void> {
    this.processes.set(process.id, { classes: [...process.classes], until: this.now() + process.ttlMs });
    return Promise.resolve();
  }

  endProcess(id: string): Promise<void> {
    this.processes.delete(id);
    return Promise.resolve();
  }

  alive(processId: string): Promise<boolean> {
    return Promise.resolve(this.leftMs(processId) > 0);
  }

  /** Milliseconds until the lease of the process ends; 0 when it has none. */
  leftMs(processId: string): number {
    return Math.max(0, (this.processes.get(processId)?.until ?? 0) - this.now());
  }

  /** Ids of all processes whose leases have not ended. */
  living(): readonly string[] {
    return [...this.processes.keys()].filter((id) => this.leftMs(id) > 0);
  }

  live(): Promise<readonly string[]> {
    return Promise.resolve(this.living());
  }

  slotsHeld(name: string): Promise<number> {
    return Promise.resolve(this.slots.count(name));
  }

  liveWorkers(taskClass: string): Promise<number> {
    const now = this.now();
    const live = [...this.processes.values()].filter(({ until, classes }) => until > now && classes.includes(taskClass));
    return Promise.resolve(live.length);
  }

  acquireSlot(slot: SlotRequest): Promise<boolean> {
    return Promise.resolve(this.slots.acquire(slot));
  }

  releaseSlot(slot: { readonly name: string; readonly holder: string }): Promise<void> {
    this.slots.release(slot);
    return Promise.resolve();
  }
}
