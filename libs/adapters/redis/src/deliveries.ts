import type { DeliveryKey, DeliveryLedger, StoreTtl } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Keys, PlacedKey } from './keys.js';
import type { RedisLeases } from './leases.js';
import { beginDelivery, endDelivery, failDelivery, releaseDelivery, unendedDelivery } from './scripts/deliveries.js';

/** The ledger of one process. `processId` must be new with every start, so that a restarted process detects its own death. */
export class RedisDeliveries implements Required<DeliveryLedger> {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly leases: RedisLeases,
    private readonly ttl: StoreTtl,
    private readonly processId: string,
  ) {}

  async unended(delivery: DeliveryKey): Promise<number> {
    const { at, key } = this.placed(delivery);
    return this.connection.run(at, unendedDelivery, [key], [this.processId]);
  }

  async begin(delivery: DeliveryKey): Promise<{ attempts: number; deaths: number; suspects: number }> {
    const { at, key } = this.placed(delivery);
    const [attempts, ...others] = await this.connection.run(at, beginDelivery, [key], [this.processId, this.ttl.retentionMs]);
    const suspects = (await this.leases.livingOf(others)).size;
    return { attempts, deaths: others.length - suspects, suspects };
  }

  async failed(delivery: DeliveryKey): Promise<void> {
    const { at, key } = this.placed(delivery);
    await this.connection.run(at, failDelivery, [key], [this.processId]);
  }

  async released(delivery: DeliveryKey): Promise<void> {
    const { at, key } = this.placed(delivery);
    await this.connection.run(at, releaseDelivery, [key], [this.processId]);
  }

  async done(delivery: DeliveryKey): Promise<void> {
    const { at, key } = this.placed(delivery);
    await this.connection.run(at, endDelivery, [key], []);
  }

  private placed({ group, record }: DeliveryKey): PlacedKey {
    return this.keys.delivery(group, record);
  }
}
