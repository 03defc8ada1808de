import { Failure, isOutage } from '@conclave/contracts';
import type { Models, StateStore } from '@conclave/ports';

const ttlMs = 10_000;
const renewMs = 3_000;
const pollMs = 250;

/**
 * Waits for one of a provider's call slots, shared by all processes. The lease is renewed while it is held.
 * Throws CALL_CANCELLED when the signal aborts first.
 */
export async function takeSlot(
  state: StateStore,
  models: Models,
  modelRef: string,
  holder: string,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const provider = modelRef.slice(modelRef.lastIndexOf('@') + 1);
  const limit = (await models.providers()).find((known) => known.name === provider)?.maxConcurrency;
  if (limit === undefined) return async () => undefined;
  const slot = { name: provider, limit, holder, ttlMs };
  let wake: (() => void) | null = null;
  let unsubscribe: (() => Promise<void>) | null = null;
  try {
    while (!(await state.leases.acquireSlot(slot))) {
      unsubscribe ??= await state.hints.subscribe('slot', () => wake?.());
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener('abort', wake, { once: true });
        if (signal.aborted) wake();
      });
      if (signal.aborted) throw new Failure('CALL_CANCELLED', 'It was still waiting for a slot of its provider.');
    }
  } finally {
    await unsubscribe?.();
  }
  // A renewal that fails is made up for by the next one; an expired slot only lets one more call through.
  const renewal = setInterval(() => void state.leases.acquireSlot(slot).catch(() => undefined), renewMs);
  return async () => {
    clearInterval(renewal);
    try {
      await state.leases.releaseSlot({ name: provider, holder });
      await state.hints.publish('slot', provider);
    } catch (error) {
      // A slot that cannot be given back expires by itself; the call it was held for must not be lost over it.
      if (!isOutage(error)) throw error;
    }
  };
}
