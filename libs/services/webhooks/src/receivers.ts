import { Failure } from '@conclave/contracts';

/** Limits of the deliveries that one process makes. */
export interface DeliveryLimits {
  /** Concurrent deliveries, to all receivers together. */
  readonly atOnce: number;
  /** Ended runs that may wait for one receiver that accepts none. */
  readonly waiting: number;
  /** Most milliseconds between two attempts. */
  readonly longestWaitMs: number;
}

/** One receiver may use at most the concurrent deliveries divided by this number, so that others have room while it does not answer. */
const parts = 4;
/** Milliseconds after which a waiting run is no longer counted: another process may have it now. */
const forgottenMs = (longestWaitMs: number): number => 2 * longestWaitMs + 60_000;

interface Turn {
  readonly runId: string;
  /** Whether no attempt has been made for it yet. */
  readonly isFirst: boolean;
  readonly begin: () => void;
  readonly refuse: () => void;
}
interface Receiver {
  readonly turns: Turn[];
  /** Runs whose delivery has begun and not ended, by id: when the last attempt failed, or null while an attempt is due or in progress. */
  readonly runs: Map<string, number | null>;
  running: number;
  /** Failures since the last successful delivery. */
  failures: number;
}

/**
 * Decides which delivery is next. Receivers share the concurrent deliveries, and a limited number of runs waits for one that fails: the log keeps
 * waiting records in memory, so that without a limit one receiver would hold back the ends of runs from all others.
 */
export class Receivers {
  private readonly all = new Map<string, Receiver>();
  private readonly share: number;
  private running = 0;

  constructor(
    private readonly limits: DeliveryLimits,
    private readonly now: () => number = Date.now,
  ) {
    this.share = Math.max(1, Math.floor(limits.atOnce / parts));
  }

  /**
   * Makes a delivery when its turn comes. Throws the errors of `post`, CALL_CANCELLED once the signal aborts before its turn, and a final
   * WEBHOOK_FAILED when too many runs wait for the receiver: then nothing was sent.
   */
  async deliver(name: string, runId: string, signal: AbortSignal, post: () => Promise<void>): Promise<void> {
    const receiver = this.of(name);
    const isFirst = !receiver.runs.has(runId);
    if (isFirst && this.isFull(receiver, 1)) throw this.full(name);
    receiver.runs.set(runId, null);
    try {
      await this.turn(name, receiver, { runId, isFirst }, signal);
    } catch (error) {
      this.forget(name, runId);
      throw error;
    }
    try {
      await post();
      receiver.failures = 0;
      receiver.runs.delete(runId);
    } catch (error) {
      if (signal.aborted) receiver.runs.delete(runId);
      else {
        receiver.failures += 1;
        receiver.runs.set(runId, this.now());
        this.shed(receiver);
      }
      throw error;
    } finally {
      receiver.running -= 1;
      this.running -= 1;
      this.begin();
      this.drop(name, receiver);
    }
  }

  /** Removes the run from those that wait for the receiver. */
  forget(name: string, runId: string): void {
    const receiver = this.all.get(name);
    receiver?.runs.delete(runId);
    if (receiver) this.drop(name, receiver);
  }

  private of(name: string): Receiver {
    const known = this.all.get(name) ?? { turns: [], runs: new Map(), running: 0, failures: 0 };
    this.all.set(name, known);
    return known;
  }

  private drop(name: string, { runs, running }: Receiver): void {
    if (runs.size === 0 && running === 0) this.all.delete(name);
  }

  private turn(name: string, receiver: Receiver, { runId, isFirst }: Pick<Turn, 'runId' | 'isFirst'>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        receiver.turns.splice(receiver.turns.indexOf(turn), 1);
        signal.removeEventListener('abort', stopped);
      };
      const stopped = (): void => {
        leave();
        reject(new Failure('CALL_CANCELLED'));
      };
      const turn: Turn = {
        ...{ runId, isFirst },
        begin: () => {
          leave();
          receiver.running += 1;
          this.running += 1;
          resolve();
        },
        refuse: () => {
          leave();
          reject(this.full(name));
        },
      };
      receiver.turns.push(turn);
      if (signal.aborted) return stopped();
      signal.addEventListener('abort', stopped);
      this.begin();
    });
  }

  /** Starts the deliveries that there is room for, first for the receiver with the fewest in progress. */
  private begin(): void {
    while (this.running < this.limits.atOnce) {
      const ready = [...this.all.values()].filter(({ turns, running }) => turns.length > 0 && running < this.share);
      if (ready.length === 0) return;
      ready.reduce((least, one) => (one.running < least.running ? one : least)).turns[0]!.begin();
    }
  }

  /** Whether, with this many more runs, too many would wait for a receiver that accepts none. */
  private isFull(receiver: Receiver, more: number): boolean {
    const { waiting, longestWaitMs } = this.limits;
    const isOver = (): boolean => receiver.failures >= this.share && receiver.runs.size + more > waiting;
    if (!isOver()) return false;
    const before = this.now() - forgottenMs(longestWaitMs);
    for (const [runId, failedAt] of receiver.runs) if (failedAt !== null && failedAt < before) receiver.runs.delete(runId);
    return isOver();
  }

  /** Refuses the newest of those that were not tried yet, as many as exceed the limit. */
  private shed(receiver: Receiver): void {
    for (const turn of [...receiver.turns].reverse()) {
      if (!this.isFull(receiver, 0)) return;
      if (!turn.isFirst) continue;
      receiver.runs.delete(turn.runId);
      turn.refuse();
    }
  }

  private full(name: string): Failure {
    const detail = `${name} accepts no deliveries, and ${this.limits.waiting} ended runs wait for it already (\`webhook_delivery.waiting\`).`;
    return new Failure('WEBHOOK_FAILED', detail, { final: true });
  }
}
