import type { Leases } from '@conclave/ports';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { acquireSlot, countWorkers, endProcess, isAlive, releaseSlot, renewProcess } from './scripts/leases.js';

export class RedisLeases implements Leases {
  constructor(
    private readonly connection: Connection,
    private readonly keys: Keys,
  ) {}

  async renewProcess({ id, classes, ttlMs }: Parameters<Leases['renewProcess']>[0]): Promise<void> {
    const { leases, leaseClasses, beforeClass } = this.keys;
    const [storeId, generation] = await this.connection.run(
      renewProcess,
      [leases, leaseClasses],
      [id, ttlMs, JSON.stringify(classes), beforeClass],
    );
    // A copy of the store that was made before the last renewal of anybody we have heard of is older than the store we know.
    if (storeId !== null) this.connection.follow({ storeId, generation: Number(generation) });
  }

  async endProcess(id: string): Promise<void> {
    const { leases, leaseClasses, beforeClass } = this.keys;
    await this.connection.run(endProcess, [leases, leaseClasses], [id, beforeClass]);
  }

  async alive(processId: string): Promise<boolean> {
    return (await this.connection.run(isAlive, [this.keys.leases], [processId])) === 1;
  }

  liveWorkers(taskClass: string): Promise<number> {
    return this.connection.run(countWorkers, [this.keys.workers(taskClass)], []);
  }

  async acquireSlot({ name, limit, holder, ttlMs }: Parameters<Leases['acquireSlot']>[0]): Promise<boolean> {
    return (await this.connection.run(acquireSlot, [this.keys.slots(name)], [holder, limit, ttlMs])) === 1;
  }

  async releaseSlot({ name, holder }: Parameters<Leases['releaseSlot']>[0]): Promise<void> {
    await this.connection.run(releaseSlot, [this.keys.slots(name)], [holder, this.keys.channel('slot'), name]);
  }
}
