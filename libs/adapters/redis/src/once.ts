import { wholeMs, type Once, type OnceClaim } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Keys } from './keys.js';
import { claimOnce } from './scripts/once.js';

export class RedisOnce implements Once {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
  ) {}

  async claim({ tenant, name, holder, ttlMs }: OnceClaim): Promise<{ readonly mine: boolean; readonly holder: string }> {
    const parameters = [JSON.stringify(holder), ttlMs === null ? '' : wholeMs(ttlMs)];
    const { at, key } = this.keys.once(tenant, name);
    const held = JSON.parse(await this.connection.run(at, claimOnce, [key], parameters)) as string;
    return { mine: held === holder, holder: held };
  }
}
