import { breakerNonces, type Breakers, type BreakerState, type HeldBreaker } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Keys } from './keys.js';
import { readBreaker, swapBreaker } from './scripts/breakers.js';

/** The breaker of a provider that was not called for this long starts fresh. */
const keptMs = 24 * 60 * 60 * 1000;

export class RedisBreakers implements Breakers {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
  ) {}

  async read(provider: string): Promise<HeldBreaker> {
    const { at, key } = this.keys.breaker(provider);
    return heldOf(await this.connection.run(at, readBreaker, [key], []));
  }

  async swap({ provider, version, next, nonce }: Parameters<Breakers['swap']>[0]): ReturnType<Breakers['swap']> {
    const parameters = [version, JSON.stringify(next), nonce, breakerNonces, keptMs];
    const { at, key } = this.keys.breaker(provider);
    const [swapped, ...held] = await this.connection.run(at, swapBreaker, [key], parameters);
    return { swapped: swapped === 1, held: heldOf(held) };
  }
}

const heldOf = ([version, state, now]: readonly [string | null, string | null, string]): HeldBreaker => ({
  version: Number(version ?? 0),
  state: state === null ? null : (JSON.parse(state) as BreakerState),
  now: Number(now),
});
