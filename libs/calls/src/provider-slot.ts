import { randomUUID } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import { leaseRenewMs, leaseTtlMs, type Models, providerNameOf, type StateStore } from '@conclave/ports';

const pollMs = 250;
/** Milliseconds that a waiting call keeps its place since it last asked: the place of a dead process must not keep the others. */
const placeMs = 4 * pollMs;
/** Milliseconds that a process keeps an unused slot: the next call of a run often follows at once. */
const idleMs = 500;
/** Milliseconds after which a call says that it waits. */
const saidAfterMs = 2_000;
/** Announces that a process is waiting for a slot of the named provider: processes with an unused one release it. */
const wantedChannel = 'slot-wanted';

export interface SlotParts {
  readonly state: Pick<StateStore, 'leases' | 'hints' | 'now'>;
  readonly models: Pick<Models, 'providers'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly processId: string;
}

/** A slot of this process. */
interface Held {
  readonly provider: string;
  readonly holder: string;
  readonly renewal: NodeJS.Timeout;
  /** Set while no call uses it. */
  idle: NodeJS.Timeout | null;
}

/** What a call does while it waits. */
export interface SlotWait {
  readonly signal: AbortSignal;
  /** Milliseconds since 1970 by the store's clock, at which the call ends. */
  readonly deadline: number;
  /** Called between two attempts to get a slot; if it throws, the waiting ends. */
  look(): Promise<void>;
  /** Called once if it waits for longer than two seconds, with the number of calls that its provider gets at a time. */
  waits?(atATime: number): void;
}

/** The failure of a call that waited for others of its provider until its deadline. */
export const noFreeSlot = (): Failure =>
  new Failure(
    'CALL_TIMEOUT',
    'Its deadline passed before its provider had a free slot. Raise `max_concurrency` of the provider if its server can answer several calls at once, otherwise `task_timeout_s` of the template.',
  );

/**
 * The call slots of providers, shared by all processes, as one service of a process takes them. A free slot serves its next call without
 * asking the store, unless another process or service waits for one. Leases are renewed while slots are held.
 */
export class ProviderSlots {
  private readonly unused = new Map<string, Held[]>();
  private readonly wakes = new Map<string, Set<() => void>>();
  /** When another process last announced that it is waiting, by provider and this process's clock. */
  private readonly wanted = new Map<string, number>();
  /** Subscriptions by channel. */
  private readonly hearing = new Map<string, Promise<() => Promise<void>>>();
  private readonly releases = new Set<Promise<void>>();
  private taken = 0;
  /** Distinguishes the services of one process: with the same name they would share a lease and exceed the limit. */
  private readonly owner: string;

  constructor(private readonly parts: SlotParts) {
    this.owner = `${parts.processId}/${randomUUID()}`;
  }

  /**
   * Takes a slot of the model's provider; the returned function releases it. Throws CALL_CANCELLED if the signal aborts first, CALL_TIMEOUT
   * if the deadline passes first.
   */
  async take(modelRef: string, waiting: SlotWait): Promise<() => void> {
    const provider = providerNameOf(modelRef);
    const limit = (await this.parts.models.providers()).find((known) => known.name === provider)?.maxConcurrency;
    if (limit === undefined) return () => undefined;
    const held = this.takeUnused(provider) ?? (await this.lease(provider, limit, waiting));
    return () => this.giveBack(held);
  }

  /** Releases all unused slots and ends the subscriptions. */
  async close(): Promise<void> {
    for (const provider of this.unused.keys()) this.releaseUnused(provider);
    await Promise.all(this.releases);
    const hearing = [...this.hearing.values()];
    this.hearing.clear();
    // A failed subscription was already reported to its caller.
    for (const one of await Promise.allSettled(hearing)) if (one.status === 'fulfilled') await one.value();
  }

  private async lease(provider: string, limit: number, { signal, deadline, look, waits }: SlotWait): Promise<Held> {
    const { state } = this.parts;
    this.taken += 1;
    const holder = `${this.owner}/slot/${this.taken}`;
    const slot = { name: provider, limit, holder, ttlMs: leaseTtlMs };
    // A hint may arrive while the store is being asked.
    let [changed, wake]: [boolean, () => void] = [signal.aborted, () => undefined];
    const onChange = (): void => {
      changed = true;
      wake();
    };
    const wakes = this.wakes.get(provider) ?? new Set();
    this.wakes.set(provider, wakes.add(onChange));
    signal.addEventListener('abort', onChange);
    const since = performance.now();
    let said = false;
    try {
      await this.heard();
      while (!(await state.leases.acquireSlot({ ...slot, waitMs: placeMs }))) {
        await state.hints.publish(wantedChannel, JSON.stringify({ provider, by: this.owner }));
        if (!changed)
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, pollMs);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        changed = false;
        if (signal.aborted) throw new Failure('CALL_CANCELLED', 'It was waiting for a free slot of its provider.');
        if ((await state.now()) >= deadline) throw noFreeSlot();
        await look();
        if (!said && performance.now() - since >= saidAfterMs) {
          said = true;
          waits?.(limit);
        }
      }
    } catch (error) {
      this.inBackground(provider, () => state.leases.releaseSlot(slot));
      throw error;
    } finally {
      signal.removeEventListener('abort', onChange);
      wakes.delete(onChange);
      // Several slots may have become free at once.
      this.wakeFirst(provider);
    }
    // The next renewal makes up for a failed one; an expired slot only lets one more call through.
    const renewal = setInterval(() => void state.leases.acquireSlot(slot).catch(() => undefined), leaseRenewMs);
    return { provider, holder, renewal, idle: null };
  }

  private takeUnused(provider: string): Held | undefined {
    const held = this.unused.get(provider)?.pop();
    if (held?.idle) clearTimeout(held.idle);
    if (held) held.idle = null;
    return held;
  }

  private giveBack(held: Held): void {
    const { provider } = held;
    // The store knows which call has waited for longest, here or in another process.
    const isWanted = performance.now() - (this.wanted.get(provider) ?? -Infinity) < 2 * pollMs;
    if (isWanted || (this.wakes.get(provider)?.size ?? 0) > 0) return this.release(held);
    held.idle = setTimeout(() => {
      this.unused.set(
        provider,
        (this.unused.get(provider) ?? []).filter((other) => other !== held),
      );
      this.release(held);
    }, idleMs).unref();
    this.unused.set(provider, [...(this.unused.get(provider) ?? []), held]);
  }

  /** The others of this process came later, so that they would be refused. */
  private wakeFirst(provider: string): void {
    const [first] = this.wakes.get(provider) ?? [];
    first?.();
  }

  private releaseUnused(provider: string): void {
    for (let held = this.takeUnused(provider); held; held = this.takeUnused(provider)) this.release(held);
  }

  /** The store notifies waiters. A slot that cannot be released expires by itself. */
  private release({ provider, holder, renewal }: Held): void {
    clearInterval(renewal);
    this.inBackground(provider, () => this.parts.state.leases.releaseSlot({ name: provider, holder }));
  }

  /** Requests that no call waits for. */
  private inBackground(provider: string, release: () => Promise<void>): void {
    const released = (async () => release())().catch((error: unknown) =>
      this.parts.logger.warn('A slot could not be released.', { provider, error }),
    );
    this.releases.add(released);
    void released.finally(() => this.releases.delete(released));
  }

  /** Resolves once this process is subscribed to free slots and waiting processes. */
  private async heard(): Promise<void> {
    await this.hear('slot', (provider) => this.wakeFirst(provider));
    await this.hear(wantedChannel, (text) => this.onWanted(JSON.parse(text) as { provider: string; by: string }));
  }

  /** If subscribing failed, the next caller retries. */
  private async hear(channel: string, listener: (payload: string) => void): Promise<void> {
    const hearing = this.hearing.get(channel) ?? this.parts.state.hints.subscribe(channel, listener);
    this.hearing.set(channel, hearing);
    try {
      await hearing;
    } catch (error) {
      if (this.hearing.get(channel) === hearing) this.hearing.delete(channel);
      throw error;
    }
  }

  private onWanted({ provider, by }: { readonly provider: string; readonly by: string }): void {
    if (by === this.owner) return;
    this.wanted.set(provider, performance.now());
    this.releaseUnused(provider);
  }
}
