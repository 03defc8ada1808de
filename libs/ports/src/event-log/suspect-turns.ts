import { systemClock, type Clock } from './clock.js';

/** The right of one suspect to run while no other begins. */
export interface Turn {
  /** The suspect no longer runs. Safe to call twice. */
  end(): void;
  /** The suspect no longer runs, or no longer alone, in this many milliseconds. */
  endIn(ms: number): void;
}

/**
 * Milliseconds of its handler after which a suspect is no longer blamed for the death of its process. The process is alive and runs its
 * timers by then, so the suspect does nothing in it but wait: for a model, a tool or a store.
 */
export const suspectBlamedMs = 150;

/**
 * Milliseconds from then to the end of its turn. What kills the process from outside while many suspects wait for their turns mostly does
 * so in such a pause, in which no suspect is blamed.
 */
export const suspectsApartMs = 350;

/**
 * Milliseconds after which the next suspect may begin although the one before still runs. A record that kills its process does so when it
 * is parsed, computed or stored, mostly within seconds; what takes longer is nearly always a model call, and waiting for the end of each
 * would delay the last of many runs by minutes.
 */
export const suspectAloneMs = 10_000;

/**
 * Milliseconds of a process's life before its first suspect begins. Where something else kills processes again and again, they mostly die
 * before that, and no record is blamed for it.
 */
export const suspectsHeldMs = 5_000;

/**
 * Lets the suspects of one process begin one after the other: records that one more death would dead-letter. If the process dies, the
 * death is blamed on every record that was begun, so suspects that run together would all be buried for what one of them did, or none.
 * All delivery pools of a process share one object, because a death ends all of them.
 */
export class SuspectTurns {
  private readonly waiting = new Set<(turn: Turn) => void>();
  /** The turn that others wait for. */
  private current: Turn | null = null;
  private from: number;
  /** Cancels the call at the end of the time in which all suspects are held. */
  private unheld: (() => void) | null = null;

  /** `heldMs`: no suspect begins within this time from now. */
  constructor(
    private readonly clock: Clock = systemClock,
    private readonly heldMs = 0,
    private readonly aloneMs = suspectAloneMs,
  ) {
    this.from = clock.now() + heldMs;
  }

  /** Null while another suspect has its turn, or all are held. */
  take(): Turn | null {
    return this.current || this.leftMs() > 0 ? null : this.grant();
  }

  /** Calls back once with a turn, in the order of the calls; the returned function leaves the queue. */
  wait(granted: (turn: Turn) => void): () => void {
    // Two calls with the same function are two places in the queue.
    const place = (turn: Turn): void => granted(turn);
    this.waiting.add(place);
    this.next();
    return () => {
      this.waiting.delete(place);
      if (this.waiting.size > 0) return;
      this.unheld?.();
      this.unheld = null;
    };
  }

  private leftMs(): number {
    return Math.min(this.heldMs, this.from - this.clock.now());
  }

  private grant(): Turn {
    const pass = (): void => {
      cancel();
      if (this.current !== turn) return;
      this.current = null;
      this.next();
    };
    const turn: Turn = {
      end: pass,
      endIn: (ms) => {
        if (this.current !== turn) return;
        cancel();
        cancel = this.clock.after(ms, pass);
      },
    };
    let cancel = this.clock.after(this.aloneMs, pass);
    this.current = turn;
    return turn;
  }

  private next(): void {
    if (this.current || this.unheld) return;
    if (this.waiting.size > 0 && this.leftMs() > 0) {
      this.unheld = this.clock.after(this.leftMs(), () => {
        this.unheld = null;
        // Also if the clock was set back meanwhile.
        this.from = -Infinity;
        this.next();
      });
      return;
    }
    for (const place of this.waiting) {
      this.waiting.delete(place);
      return place(this.grant());
    }
  }
}
