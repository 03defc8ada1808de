import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryStores, systemClock } from '@conclave/ports';
import { silentLogger } from '@conclave/platform';
import { ProviderSlots } from './provider-slot.js';

describe('the slots of a provider', () => {
  let stores: MemoryStores;
  let asked: string[];
  const opened: ProviderSlots[] = [];
  beforeEach(() => {
    stores = new MemoryStores({ clock: systemClock });
    asked = [];
  });
  afterEach(() => Promise.all(opened.splice(0).map((slots) => slots.close())));

  const process = (processId: string, maxConcurrency: number): ProviderSlots => {
    const { state: whole } = stores.connect(processId);
    const { leases } = whole;
    const noting: Pick<typeof leases, 'acquireSlot' | 'releaseSlot'> = {
      acquireSlot: (slot) => (asked.push(`${processId} takes`), leases.acquireSlot(slot)),
      releaseSlot: (slot) => (asked.push(`${processId} gives back`), leases.releaseSlot(slot)),
    };
    const models = {
      providers: async () => [{ name: 'p', reachable: true, local: true, paid: false, note: '', maxConcurrency }],
    };
    const state = { leases: Object.assign(Object.create(leases) as typeof leases, noting), hints: whole.hints, now: () => whole.now() };
    const slots = new ProviderSlots({ state, models, logger: silentLogger, processId });
    opened.push(slots);
    return slots;
  };
  const take = (slots: ProviderSlots, signal = new AbortController().signal) =>
    slots.take('m@p', { signal, deadline: Number.MAX_SAFE_INTEGER, look: async () => undefined });

  it('serve the next call of the process that holds one without a request to the store if none waits, and no more calls at once than there are slots', async () => {
    const slots = process('one', 2);
    for (let n = 0; n < 3; n += 1) (await take(slots))();
    expect(asked).toEqual(['one takes']);
    const both = await Promise.all([take(slots), take(slots)]);
    const third = take(slots);
    expect(asked).toEqual(['one takes', 'one takes']);
    both[0]!();
    (await third)();
  });

  it('are given back at once if another process waits, and before the next call of the same process', async () => {
    const [one, two] = [process('one', 1), process('two', 1)];
    (await take(one))();
    const ofTwo = await take(two);
    expect(asked).toContain('one gives back');
    const ofOne = take(one);
    while (!asked.slice(-2).includes('one takes')) await new Promise((resolve) => setImmediate(resolve));
    ofTwo();
    (await ofOne)();
  });

  it('are given in the order in which the calls came, whichever service or process they are from', async () => {
    const [planner, merger, far] = [process('one', 1), process('one', 1), process('two', 1)];
    const order: string[] = [];
    const served = async (name: string, slots: ProviderSlots): Promise<void> => {
      const giveBack = await take(slots);
      order.push(name);
      await new Promise((resolve) => setImmediate(resolve));
      giveBack();
    };
    const first = await take(planner);
    const waiting: Promise<void>[] = [];
    for (const [name, slots] of Object.entries({ second: merger, third: planner, fourth: far, fifth: merger, sixth: planner })) {
      const before = asked.length;
      waiting.push(served(name, slots));
      while (asked.length === before) await new Promise((resolve) => setImmediate(resolve));
    }
    first();
    await Promise.all(waiting);
    expect(order).toEqual(['second', 'third', 'fourth', 'fifth', 'sixth']);
  });

  it('are counted for each service of a single process, as in embedded mode', async () => {
    const [planner, experts] = [process('one', 1), process('one', 1)];
    const first = await take(planner);
    let second: (() => void) | null = null;
    const waiting = take(experts).then((giveBack) => (second = giveBack));
    while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(second).toBeNull();
    first();
    await waiting;
    second!();
  });

  it('are given back if nothing uses them for a while, and when the process closes', async () => {
    const slots = process('one', 1);
    (await take(slots))();
    const end = performance.now() + 5_000;
    while (!asked.includes('one gives back') && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
    (await take(slots))();
    await slots.close();
    expect(asked).toEqual(['one takes', 'one gives back', 'one takes', 'one gives back']);
  });

  it('let a call that waits for longer than two seconds say so, once', async () => {
    const slots = process('one', 1);
    const first = await take(slots);
    const said: string[] = [];
    const waiting = (name: string) =>
      slots.take('m@p', {
        signal: new AbortController().signal,
        deadline: Number.MAX_SAFE_INTEGER,
        look: async () => undefined,
        waits: (atATime) => void said.push(`${name}: ${atATime} at a time`),
      });
    const second = waiting('second');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(said).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(said).toEqual(['second: 1 at a time']);
    first();
    const giveBack = await second;
    const third = waiting('third');
    giveBack();
    (await third)();
    expect(said).toEqual(['second: 1 at a time']);
  });
});
