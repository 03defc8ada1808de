import { parkedFlag, type StateStore } from '@conclave/ports';

/** How long a cancel may go unseen when its hint is lost. */
const pollMs = 250;

/**
 * Tells running calls that their run or task was cancelled. The flag in the state store is the truth;
 * the hint makes it quick, the poll makes it certain.
 */
export class CancelWatch {
  private readonly listeners = new Set<(id: string) => void>();
  private subscription: Promise<() => Promise<void>> | null = null;

  constructor(private readonly state: StateStore) {}

  /** Whether any of the ids is flagged, or its run is over. */
  async isCancelled(ids: readonly string[]): Promise<boolean> {
    return (await this.state.runs.cancelled(ids)).size > 0;
  }

  /**
   * A signal that aborts when one of the ids, a run's first, is cancelled or `outer` aborts. It has looked once when it is given out, so
   * that nothing is begun that was cancelled before; `parked` is whether the run was parked then. `stop` must be called when the work is
   * over. Throws STORE_*.
   */
  async watch(
    ids: readonly string[],
    outer: AbortSignal,
  ): Promise<{ readonly signal: AbortSignal; readonly parked: boolean; readonly cancelled: () => boolean; stop(): void }> {
    await this.subscribed();
    const controller = new AbortController();
    const flags = ids[0] === undefined ? [] : [...ids, parkedFlag(ids[0])];
    let cancelled = false;
    let parked = false;
    let asking = false;
    const look = async (): Promise<void> => {
      if (asking || cancelled) return;
      asking = true;
      try {
        const found = await this.state.runs.cancelled(flags);
        parked = flags.length > 0 && found.has(flags.at(-1)!);
        if (ids.some((id) => found.has(id))) {
          cancelled = true;
          controller.abort();
        }
      } finally {
        asking = false;
      }
    };
    await look();
    // A store that does not answer is no cancel: the call goes on, and its end will find the outage.
    const lookQuietly = (): void => void look().catch(() => undefined);
    const listener = (id: string): void => {
      if (ids.includes(id)) lookQuietly();
    };
    const onOuter = (): void => controller.abort();
    const timer = setInterval(lookQuietly, pollMs);
    this.listeners.add(listener);
    if (outer.aborted) controller.abort();
    outer.addEventListener('abort', onOuter, { once: true });
    return {
      signal: controller.signal,
      parked,
      cancelled: () => cancelled,
      stop: () => {
        clearInterval(timer);
        this.listeners.delete(listener);
        outer.removeEventListener('abort', onOuter);
      },
    };
  }

  /** A subscription that could not be made is tried again by the next watch. */
  private async subscribed(): Promise<void> {
    const subscription = (this.subscription ??= this.state.hints.subscribe('cancel', (id) => {
      for (const listener of this.listeners) listener(id);
    }));
    try {
      await subscription;
    } catch (error) {
      if (this.subscription === subscription) this.subscription = null;
      throw error;
    }
  }

  async close(): Promise<void> {
    const subscription = this.subscription;
    this.subscription = null;
    if (subscription) await (await subscription)();
  }
}
