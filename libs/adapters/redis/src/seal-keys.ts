import { destroyedKey, type SealKeys } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Keys } from './keys.js';
import { destroySealKey, keepSealKey, readSealKey } from './scripts/seal-keys.js';

/** One value per run, which is kept longer than the run's hash: records of the audit are read when the run itself has expired. */
export class RedisSealKeys implements SealKeys {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly ttlMs: number,
  ) {}

  read(runId: string): Promise<string | null> {
    const { at, seal } = this.keys.of(runId);
    return this.connection.run(at, readSealKey, [seal], []);
  }

  keep(runId: string, offered: string): Promise<string> {
    const { at, seal } = this.keys.of(runId);
    return this.connection.run(at, keepSealKey, [seal], [offered, this.ttlMs]);
  }

  async destroy(runId: string): Promise<boolean> {
    const { at, seal } = this.keys.of(runId);
    return (await this.connection.run(at, destroySealKey, [seal], [destroyedKey, this.ttlMs])) === 1;
  }
}
