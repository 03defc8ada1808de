import { systemClock, type Clock } from './clock.js';

/** The right of one suspect to run while no other begins. */
export interface Turn {
  /** The suspect no longer runs. Safe to call twice. */
  end(): void;
}

/**
 * Milliseconds after which the next suspect may begin although the one before still runs. A record that kills its process does so when it
 * is parsed, computed or stored, mostly within seconds; what takes longer is nearly always a model call, and waiting for the end of each
 * would delay the last of many runs by minutes.
 */
export const suspectAloneMs = 10_000;

/**
 * Lets the suspects of one process begin one after the other: records that one more death would dead-letter. If the process dies, the
 * death is blamed on every record that was begun, so suspects that run together would all be buried for what one of them did, or none.
 * All delivery pools of a process share one object, because a death ends all of them.
 */
export class SuspectTurns {
  private readonly waiting = new Set<(turn: Turn) => void>();
  /** The turn that others wait for. */
  private current: Turn | null = null;

  constructor(
    private readonly clock: Clock = systemClock,
    private readonly aloneMs = suspectAloneMs,
  ) {}

  /** Null while another suspect has its turn. */
  take(): Turn | null {
    return this.current ? null : this.grant();
  }

  /** Calls back once with a turn, in the order of the calls; the returned function leaves the queue. */
  wait(granted: (turn: Turn) => void): () => void {
    // Two calls with the same function are two places in the queue.
    const place = (turn: Turn): void => granted(turn);
    this.waiting.add(place);
    this.next();
    return () => this.waiting.delete(place);
  }

  private grant(): Turn {
    const pass = (): void => {
      cancel();
      if (this.current !== turn) return;
      this.current = null;
      this.next();
    };
    const turn: Turn = { end: pass };
    const cancel = this.clock.after(this.aloneMs, pass);
    this.current = turn;
    return turn;
  }

  private next(): void {
    if (this.current) return;
    for (const place of this.waiting) {
      this.waiting.delete(place);
      return place(this.grant());
    }
  }
}
