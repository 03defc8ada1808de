import type { Leases } from '@conclave/ports';
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
  /** Slot name -> holder -> expiry. */
  private readonly slots = new Map<string, Map<string, number>>();
  private forgetAt = 0;

  constructor(
    private readonly now: () => number,
    private readonly hints: ProcessHints,
  ) {}

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
    const now = this.now();
    return Promise.resolve([...(this.slots.get(name)?.values() ?? [])].filter((until) => until > now).length);
  }

  liveWorkers(taskClass: string): Promise<number> {
    const now = this.now();
    const live = [...this.processes.values()].filter(({ until, classes }) => until > now && classes.includes(taskClass));
    return Promise.resolve(live.length);
  }

  acquireSlot(slot: { readonly name: string; readonly limit: number; readonly holder: string; readonly ttlMs: number }): Promise<boolean> {
    const now = this.now();
    this.forget(now);
    const holders = this.slots.get(slot.name) ?? new Map<string, number>();
    for (const [holder, until] of holders) if (until <= now) holders.delete(holder);
    if (!holders.has(slot.holder) && holders.size >= slot.limit) return Promise.resolve(false);
    holders.set(slot.holder, now + slot.ttlMs);
    this.slots.set(slot.name, holders);
    return Promise.resolve(true);
  }

  /** Names of runs are never requested again: once a minute, those whose last holder's time has ended are dropped. */
  private forget(now: number): void {
    if (now < this.forgetAt) return;
    this.forgetAt = now + 60_000;
    for (const [name, holders] of this.slots) if ([...holders.values()].every((until) => until <= now)) this.slots.delete(name);
  }

  releaseSlot(slot: { readonly name: string; readonly holder: string }): Promise<void> {
    const holders = this.slots.get(slot.name);
    if (!holders?.delete(slot.holder)) return Promise.resolve();
    if (holders.size === 0) this.slots.delete(slot.name);
    return this.hints.publish('slot', slot.name);
  }
}
