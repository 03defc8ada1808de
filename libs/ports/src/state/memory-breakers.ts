import { breakerNonces, type Breakers, type BreakerState, type HeldBreaker } from './breaker.js';

/** In-memory breakers, shared by all users of one process. */
export class MemoryBreakers implements Breakers {
  private readonly held = new Map<string, { readonly version: number; readonly state: BreakerState; readonly nonces: readonly string[] }>();

  constructor(private readonly now: () => number) {}

  async read(provider: string): Promise<HeldBreaker> {
    const { version = 0, state = null } = this.held.get(provider) ?? {};
    return { version, state, now: this.now() };
  }

  async swap({ provider, version, next, nonce }: Parameters<Breakers['swap']>[0]): ReturnType<Breakers['swap']> {
    const held = this.held.get(provider);
    const isRepeated = held?.nonces.includes(nonce) ?? false;
    const swapped = isRepeated || (held?.version ?? 0) === version;
    if (swapped && !isRepeated) {
      const nonces = [...(held?.nonces ?? []), nonce].slice(-breakerNonces);
      this.held.set(provider, { version: version + 1, state: next, nonces });
    }
    return { swapped, held: await this.read(provider) };
  }
}
