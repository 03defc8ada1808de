import { ancestorsOf, rootOf } from '@conclave/contracts';
import { parkedFlag, stopHint, type StateStore } from '@conclave/ports';

/** Maximum delay until a cancel is noticed if its hint is lost. If no hint can get lost, nothing is polled. */
const pollMs = 250;

const runOf = (id: string): string => id.split('/', 1)[0]!;
/** The ids, and the runs and tasks whose cancel cancels them too. */
const withAncestors = (ids: readonly string[]): readonly string[] => [...new Set([...ids, ...ids.flatMap((id) => ancestorsOf(runOf(id)))])];

/** Watches whether one of the ids, a run's first, is cancelled. `stop` must be called when the work ends. */
export interface Watch {
  /** Aborts when one of the ids is cancelled, or when the outer signal aborts. */
  readonly signal: AbortSignal;
  /** Flags to look up in the store: the ids, and the flag of a parked run. */
  readonly flags: readonly string[];
  /** Reads the flags, or uses those `found` by another read since the watch was opened. Throws STORE_*. */
  look(found?: readonly string[]): Promise<void>;
  cancelled(): boolean;
  /** Whether the run was parked at the last look. */
  parked(): boolean;
  /** Whether the work was ended because its run was parked: it is done again when a client returns. */
  stopped(): boolean;
  stop(): void;
}

/** One of this process's watches, as hints and polls see it. */
interface Watched {
  readonly ids: readonly string[];
  readonly flags: readonly string[];
  /** Hint that ends the work if its run is parked; null: the work continues to its end. */
  readonly stopsAt: string | null;
  saw(found: ReadonlySet<string>, told?: string): void;
}

/**
 * Notifies running calls that their run or task was cancelled. The flag in the state store is authoritative, and a hint reports it at once.
 * Where hints may get lost, a poll finds the flag. All calls of the process share one subscription and one poll.
 */
export class CancelWatch {
  private readonly watches = new Set<Watched>();
  private subscription: Promise<() => Promise<void>> | null = null;
  private poll: NodeJS.Timeout | null = null;
  private asking = false;

  constructor(private readonly state: { readonly runs: Pick<StateStore['runs'], 'cancelled'>; readonly hints: StateStore['hints'] }) {}

  /** Whether any of the ids is flagged, or its run is over. */
  async isCancelled(ids: readonly string[]): Promise<boolean> {
    return (await this.state.runs.cancelled(withAncestors(ids))).size > 0;
  }

  /** Opens a watch that listens but has not checked the flags yet. Throws STORE_*. */
  async open(own: readonly string[], outer: AbortSignal, { stops = false }: { readonly stops?: boolean } = {}): Promise<Watch> {
    const ids = withAncestors(own);
    await this.subscribed();
    const controller = new AbortController();
    const flags = ids[0] === undefined ? [] : [...ids, parkedFlag(rootOf(runOf(ids[0])))];
    let cancelled = false;
    const stopsAt = stops && ids[0] !== undefined ? stopHint(rootOf(runOf(ids[0]))) : null;
    let parked = false;
    let stopped = false;
    const saw = (found: ReadonlySet<string>, told?: string): void => {
      parked = flags.length > 0 && found.has(flags.at(-1)!);
      if (parked && told !== undefined && told === stopsAt) {
        stopped = true;
        controller.abort();
      }
      if (cancelled || !ids.some((id) => found.has(id))) return;
      cancelled = true;
      controller.abort();
    };
    const watched: Watched = { ids, flags, stopsAt, saw };
    if (flags.length > 0) this.add(watched);
    const onOuter = (): void => controller.abort();
    if (outer.aborted) controller.abort();
    outer.addEventListener('abort', onOuter, { once: true });
    return {
      signal: controller.signal,
      flags,
      look: async (found) => saw(found ? new Set(found) : await this.state.runs.cancelled(flags)),
      cancelled: () => cancelled,
      parked: () => parked,
      stopped: () => stopped && !cancelled,
      stop: () => {
        this.remove(watched);
        outer.removeEventListener('abort', onOuter);
      },
    };
  }

  async close(): Promise<void> {
    const subscription = this.subscription;
    this.subscription = null;
    if (subscription) await (await subscription)();
  }

  private add(watched: Watched): void {
    this.watches.add(watched);
    if (!this.state.hints.certain) this.startPolling();
  }

  private startPolling(): void {
    this.poll ??= setInterval(() => {
      if (this.asking) return;
      this.asking = true;
      void this.lookFor([...this.watches]).finally(() => (this.asking = false));
    }, pollMs);
  }

  private remove(watched: Watched): void {
    this.watches.delete(watched);
    if (this.watches.size > 0 || !this.poll) return;
    clearInterval(this.poll);
    this.poll = null;
  }

  /** An unavailable store is not a cancel: the calls continue and meet the outage when they end. The store is polled until it answers. */
  private lookFor(watches: readonly Watched[], told?: string): Promise<void> {
    if (watches.length === 0) return Promise.resolve();
    return this.state.runs.cancelled([...new Set(watches.flatMap(({ flags }) => flags))]).then(
      (found) => watches.forEach((watched) => watched.saw(found, told)),
      () => {
        if (this.watches.size > 0) this.startPolling();
      },
    );
  }

  /** If subscribing failed, the next watch retries. */
  private async subscribed(): Promise<void> {
    const subscription = (this.subscription ??= this.state.hints.subscribe(
      'cancel',
      (id) =>
        void this.lookFor(
          [...this.watches].filter(({ ids, stopsAt }) => stopsAt === id || ids.includes(id)),
          id,
        ),
    ));
    try {
      await subscription;
    } catch (error) {
      if (this.subscription === subscription) this.subscription = null;
      throw error;
    }
  }
}
