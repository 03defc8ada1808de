import type { DeliveryKey, DeliveryLedger, StoreTtl } from '@conclave/ports';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { beginDelivery, endDelivery, failDelivery, releaseDelivery } from './scripts/deliveries.js';

/** The ledger of one process: `processId` must be new with every start, or a restarted process could not see its own death. */
export class RedisDeliveries implements DeliveryLedger {
  constructor(
    private readonly connection: Connection,
    private readonly keys: Keys,
    private readonly ttl: StoreTtl,
    private readonly processId: string,
  ) {}

  async begin(delivery: DeliveryKey): Promise<{ attempts: number; deaths: number; suspects: number }> {
    const [attempts, deaths, suspects] = await this.connection.run(
      beginDelivery,
      [this.key(delivery), this.keys.leases],
      [this.processId, this.ttl.retentionMs],
    );
    return { attempts, deaths, suspects };
  }

  async failed(delivery: DeliveryKey): Promise<void> {
    await this.connection.run(failDelivery, [this.key(delivery)], [this.processId]);
  }

  async released(delivery: DeliveryKey): Promise<void> {
    await this.connection.run(releaseDelivery, [this.key(delivery)], [this.processId]);
  }

  async done(delivery: DeliveryKey): Promise<void> {
    await this.connection.run(endDelivery, [this.key(delivery)], []);
  }

  private key({ group, record }: DeliveryKey): string {
    return this.keys.delivery(group, record);
  }
}
