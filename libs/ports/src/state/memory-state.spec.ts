import { describeRunStream } from '../run-stream/run-stream.contract.js';
import { systemClock, type Clock } from '../event-log/clock.js';
import { newName, type StoreHarness } from './__fixtures__/store-harness.js';
import { MemoryStores } from './memory-stores.js';
import { describePublished } from './published.contract.js';
import { describeStateStore } from './state.contract.js';

/** The real clock, shifted by tests; waits take real time. */
function shiftedClock(): Clock & { shift(ms: number): void } {
  let shift = 0;
  return { ...systemClock, now: () => systemClock.now() + shift, shift: (ms) => void (shift += ms) };
}

const harness: StoreHarness = {
  async open(ttl = {}) {
    const clock = shiftedClock();
    // A gap between the halves of a commit, as with a networked store.
    const stores = new MemoryStores({ clock, ttl, between: () => new Promise((resolve) => setImmediate(resolve)) });
    const another = async () => {
      const { processId, state, stream } = stores.connect(newName('process'));
      return { processId, store: state, stream };
    };
    return { ...(await another()), another, advance: (ms) => clock.shift(ms), clockIsReal: false, dispose: async () => undefined };
  },
};

describeStateStore('MemoryStores', harness);
describePublished('MemoryStores', harness);
describeRunStream('MemoryRunStream', harness);
