import { Failure } from '@conclave/contracts';
import { leaseRenewMs, leaseTtlMs, type Models, type StateStore } from '@conclave/ports';

const pollMs = 250;

/**
 * Waits for one of a provider's call slots, shared by all processes. The lease is renewed while it is held.
 * `look` is called between two looks at the slots, and what it throws ends the waiting. Throws CALL_CANCELLED when the signal aborts first, CALL_TIMEOUT when the deadline (milliseconds by the store's clock) passes first.
 */
export async function takeSlot(
  { state, models }: { readonly state: StateStore; readonly models: Models },
  modelRef: string,
  holder: string,
  { signal, deadline, look }: { readonly signal: AbortSignal; readonly deadline: number; look(): Promise<void> },
): Promise<() => Promise<void>> {
  const provider = modelRef.slice(modelRef.lastIndexOf('@') + 1);
  const limit = (await models.providers()).find((known) => known.name === provider)?.maxConcurrency;
  if (limit === undefined) return async () => undefined;
  const slot = { name: provider, limit, holder, ttlMs: leaseTtlMs };
  let wake: () => void = () => undefined;
  const onHint = (): void => wake();
  let unsubscribe: (() => Promise<void>) | null = null;
  signal.addEventListener('abort', onHint);
  try {
    while (!(await state.leases.acquireSlot(slot))) {
      unsubscribe ??= await state.hints.subscribe('slot', onHint);
      if (!signal.aborted)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pollMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      if (signal.aborted) throw new Failure('CALL_CANCELLED', 'It was still waiting for a slot of its provider.');
      if ((await state.now()) >= deadline) throw new Failure('CALL_TIMEOUT', 'Its time was over before a slot of its provider was free.');
      await look();
    }
  } finally {
    signal.removeEventListener('abort', onHint);
    await unsubscribe?.();
  }
  // A renewal that fails is made up for by the next one; an expired slot only lets one more call through.
  const renewal = setInterval(() => void state.leases.acquireSlot(slot).catch(() => undefined), leaseRenewMs);
  return async () => {
    clearInterval(renewal);
    await state.leases.releaseSlot({ name: provider, holder });
    await state.hints.publish('slot', provider);
  };
}
