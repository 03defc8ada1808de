import type { Leases, SlotPlace, SlotRequest } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Keys } from './keys.js';
import {
  acquireSlot,
  countSlots,
  countWorkers,
  endProcess,
  leaseLeft,
  liveProcesses,
  livingOf,
  raiseGeneration,
  releaseSlot,
  renewProcess,
} from './scripts/leases.js';

/** The last class of each process that can read forgotten and packed bodies. No task has this class. */
export const readsForgotten = '#forgotten';

export class RedisLeases implements Leases {
  /**
   * Whether every process with a lease can read forgotten and packed bodies, as of the last renewal. During an upgrade, processes of the older
   * version cannot, and everything is stored in the form that they know.
   */
  allReadForgotten = false;

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
  ) {}

  async renewProcess({ id, classes, ttlMs }: Parameters<Leases['renewProcess']>[0]): Promise<void> {
    const { leases, leaseClasses, beforeClass } = this.keys;
    const { connection, keys } = this;
    const [raised, [now, all]] = await Promise.all([
      // Each renewal raises the generations, so that a copy of a bucket made before it counts as older.
      connection.everywhere(raiseGeneration, () => [], []),
      connection.run(
        keys.common,
        renewProcess,
        [leases, leaseClasses],
        [...[id, ttlMs], ...[JSON.stringify([...classes, readsForgotten]), beforeClass]],
      ),
    ]);
    connection.clock.hear(now);
    this.allReadForgotten = all === 1;
    for (const at of keys.buckets) {
      const [storeId, generation] = raised[at.n]!;
      if (storeId !== null) connection.follow(at, { storeId, generation: Number(generation) });
    }
  }

  async endProcess(id: string): Promise<void> {
    const { leases, leaseClasses, beforeClass } = this.keys;
    await this.connection.run(this.keys.common, endProcess, [leases, leaseClasses], [id, beforeClass]);
  }

  async alive(processId: string): Promise<boolean> {
    return (await this.leftOf(processId)) > 0;
  }

  /** Milliseconds until the lease of a process ends; 0 if it has none. */
  leftOf(processId: string): Promise<number> {
    return this.connection.run(this.keys.common, leaseLeft, [this.keys.leases], [processId]);
  }

  /** The given processes whose leases have not ended; an empty list needs no request. */
  async livingOf(processIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (processIds.length === 0) return new Set();
    return new Set(await this.connection.run(this.keys.common, livingOf, [this.keys.leases], processIds));
  }

  async live(): Promise<readonly string[]> {
    return this.connection.run(this.keys.common, liveProcesses, [this.keys.leases], []);
  }

  liveWorkers(taskClass: string): Promise<number> {
    return this.connection.run(this.keys.common, countWorkers, [this.keys.workers(taskClass)], []);
  }

  async slotsHeld(name: string): Promise<number> {
    const { at, key } = this.keys.slots(name);
    return this.connection.run(at, countSlots, [key], []);
  }

  async acquireSlot({ name, limit, holder, ttlMs, waitMs = 0 }: SlotRequest): Promise<boolean> {
    const { at, key, waiting, waits } = this.keys.slots(name);
    return (await this.connection.run(at, acquireSlot, [key, waiting, waits], [holder, limit, ttlMs, waitMs])) === 1;
  }

  async releaseSlot({ name, holder }: SlotPlace): Promise<void> {
    const { at, key, waiting, waits } = this.keys.slots(name);
    await this.connection.run(at, releaseSlot, [key, waiting, waits], [holder, this.keys.channel('slot'), name]);
  }
}
