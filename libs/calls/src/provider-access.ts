import { type Failure } from '@conclave/contracts';
import type { CallHealth } from '@conclave/ports';
import { type BreakerParts, healthOf, ProviderBreakers } from './provider-breaker.js';
import { noFreeSlot, ProviderSlots, type SlotParts, type SlotWait } from './provider-slot.js';

export type ProviderAccessParts = BreakerParts & SlotParts;

/** Limits of one call to a provider. */
export type CallBounds = Omit<SlotWait, 'look'>;

/** One call on its way to its provider. */
export interface ProviderCall {
  /** Throws PROVIDER_UNWELL if the call would be refused now. */
  look(): Promise<void>;
  /**
   * Waits for a slot, passes the breaker, performs the call with the milliseconds that are left, and counts its outcome. Throws
   * PROVIDER_UNWELL without calling if the breaker is open, CALL_TIMEOUT or CALL_CANCELLED if the wait for a slot times out or is
   * cancelled.
   */
  make<T>(bounds: CallBounds, perform: (timeoutMs: number) => Promise<T>): Promise<T>;
}

/** The slots and the circuit breaker of providers, which every model call of a process passes first. */
export class ProviderAccess {
  private readonly breakers: ProviderBreakers;
  private readonly slots: ProviderSlots;

  constructor(private readonly parts: ProviderAccessParts) {
    this.breakers = new ProviderBreakers(parts);
    this.slots = new ProviderSlots(parts);
  }

  /** `by` is the id of the call; `model` is `model@provider`. */
  call(model: string, by: string): ProviderCall {
    const gate = this.breakers.gate(model, by);
    return {
      look: () => gate.look(),
      make: async (bounds, perform) => {
        const giveBack = await this.slots.take(model, { ...bounds, look: () => gate.look() });
        try {
          const leftMs = bounds.deadline - (await this.parts.state.now());
          if (leftMs <= 0) throw noFreeSlot();
          const settle = await gate.enter();
          let health: CallHealth = 'well';
          try {
            return await perform(leftMs);
          } catch (error) {
            health = healthOf(error, leftMs);
            if (health === 'unwell') this.breakers.noteFailure(model, error as Failure);
            throw error;
          } finally {
            await settle(health);
          }
        } finally {
          giveBack();
        }
      },
    };
  }

  /** Releases all slots. */
  close(): Promise<void> {
    return this.slots.close();
  }
}
