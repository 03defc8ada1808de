import { setImmediate as nextTurn } from 'node:timers';
import { withGlobal } from '@sinonjs/fake-timers';

/** Milliseconds since 1970 at which every simulated world begins. */
export const beginning = 1_800_000_000_000;

/** Time that advances only when nothing is left to do at the present moment. */
export interface VirtualTime {
  /** Runs everything that can run now, then advances to the next timer and fires it. Returns false if there is none. */
  step(): Promise<boolean>;
  /** Milliseconds since the beginning. */
  elapsed(): number;
  /** Lets running work come to a halt and restores real time; remaining timers never fire. */
  end(): Promise<void>;
}

const realNow = (): number => Date.now();
/** The value of Date.now(), without the detour through the global object: it is read many times for every port call. */
export let virtualNow: () => number = realNow;

/** Date, performance.now, setTimeout and setInterval of this whole Node process are virtual until `end`. */
export function beginVirtualTime(): VirtualTime {
  const clock = withGlobal(globalThis).install({
    now: beginning,
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  virtualNow = () => clock.now;
  const realTimeout = AbortSignal.timeout;
  AbortSignal.timeout = (ms) => {
    const over = new AbortController();
    setTimeout(() => over.abort(new DOMException('The time is over.', 'TimeoutError')), ms);
    return over.signal;
  };
  // Promises are settled before the next turn of the real event loop; nothing in a simulated world waits for anything else.
  const settled = (): Promise<void> => new Promise((resolve) => nextTurn(resolve));
  return {
    async step() {
      await settled();
      if (clock.countTimers() === 0) return false;
      clock.next();
      return true;
    },
    elapsed: () => clock.now - beginning,
    async end() {
      await settled();
      clock.uninstall();
      AbortSignal.timeout = realTimeout;
      virtualNow = realNow;
    },
  };
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
