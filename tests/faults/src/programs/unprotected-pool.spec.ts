import { describe, expect, it } from '@jest/globals';
import { Failure, type Event, type TaskDispatched } from '@conclave/contracts';
import { DeliveryPool, encodeEvent, MemoryBlobs, MemoryDeliveries, type DeadRecord, type DeliveryPoolOptions } from '@conclave/ports';
import { newRunId, nthInput, sampleInput, sampleOutput, until } from '@conclave/ports/suites';
import { protectionNames, type ProtectionName } from './protections.js';
import { unprotectedPool } from './unprotected-pool.js';

/** What a pool did with one event. */
interface Story {
  readonly handled: Event[];
  readonly published: Event[];
  readonly letters: DeadRecord[];
  readonly pauses: boolean[];
  /** For each record that was reported as done to the ledger, the number of handlers begun until then. */
  readonly done: number[];
  over: boolean;
}

/** Offers one event to a pool `without` one protection, or with all of them. */
async function tell(
  event: Event,
  part: Partial<DeliveryPoolOptions['subscription']> & { readonly ledger?: Partial<DeliveryPoolOptions['ledger']> },
  without: ProtectionName | 'nothing' = 'nothing',
  publish?: () => Promise<void>,
): Promise<{ readonly story: Story; readonly pool: DeliveryPool }> {
  const story: Story = { handled: [], published: [], letters: [], pauses: [], done: [], over: false };
  const blobs = new MemoryBlobs();
  const kept = new MemoryDeliveries({ leaseMs: 1_000, now: Date.now }).ledger('this');
  const { ledger, handle, ...subscription } = part;
  const options: DeliveryPoolOptions = {
    subscription: {
      group: 'planner',
      topics: [event.topic],
      concurrency: 1,
      graceMs: 0,
      retry: { attempts: 3, backoffMs: 1, maxBackoffMs: 2 },
      handle: async (delivery) => {
        story.handled.push(delivery.event);
        return (await handle?.(delivery)) ?? [];
      },
      ...subscription,
    },
    ledger: {
      unended: (key) => kept.unended(key),
      begin: (key) => kept.begin(key),
      failed: (key) => kept.failed(key),
      released: (key) => kept.released(key),
      done: async (key) => {
        story.done.push(story.handled.length);
        await kept.done(key);
      },
      ...ledger,
    },
    blobs,
    publish: publish ?? (async (events) => void story.published.push(...events)),
    publishDead: async (dead) => void story.letters.push(dead),
    onPause: (paused) => story.pauses.push(paused),
    probe: { firstMs: 5, maxMs: 10 },
  };
  const change = unprotectedPool(new Set(without === 'nothing' ? [] : [without]), 'embedded');
  const pool = new DeliveryPool(change ? change(options) : options);
  const { topic, key, headers, raw } = await encodeEvent(event, blobs);
  pool.offer({ topic, key, headers, raw, partition: 0, offset: '0', appendedAt: Date.now() }, () => void (story.over = true));
  return { story, pool };
}

const away = (): Promise<never> => Promise.reject(new Failure('STORE_UNAVAILABLE'));
const input = sampleInput('one');
const output = sampleOutput('one');

describe('a delivery pool', () => {
  it('is not changed if no protection is switched off', () => {
    expect(unprotectedPool(new Set(), 'embedded')).toBeNull();
    const ours: readonly ProtectionName[] = [
      'offset-tracker',
      'dead-letters',
      'outage-pause',
      'store-refusals',
      'process-deaths',
      'deadline-check',
    ];
    for (const name of protectionNames)
      expect([name, unprotectedPool(new Set([name]), 'embedded') !== null]).toEqual([name, ours.includes(name)]);
    expect(unprotectedPool(new Set(['offset-tracker']), 'distributed')).toBeNull();
  });

  it.each([
    ['nothing', [1]],
    ['offset-tracker', [0]],
  ] as const)('without %s counts a record as done when %j handlers have begun', async (without, done) => {
    const { story } = await tell(input, {}, without);
    await until('it is over', () => story.over);
    expect(story.done).toEqual(done);
    expect(story.handled).toHaveLength(1);
  });

  it('without offset-tracker still gives up a record that never succeeds', async () => {
    const { story } = await tell(input, { handle: () => Promise.reject(new TypeError('a bug')) }, 'offset-tracker');
    await until('it is over', () => story.over);
    expect([story.handled.length, story.letters.length]).toEqual([3, 1]);
  });

  it.each([
    ['nothing', 1, [output]],
    ['dead-letters', 0, []],
  ] as const)(
    'without %s writes %d dead letters for a record that fails, and the corresponding outputs',
    async (without, letters, published) => {
      const part = { handle: () => Promise.reject(new TypeError('a bug')), onDead: () => [output] };
      const { story } = await tell(input, part, without);
      await until('it is over', () => story.over);
      expect(story.letters).toHaveLength(letters);
      expect(story.published).toEqual(published);
    },
  );

  it('with all protections waits for the end of an outage, however long', async () => {
    const { story, pool } = await tell(input, { handle: away });
    await until('it was probed', () => story.handled.length > 5);
    expect([story.letters, story.over, story.pauses]).toEqual([[], false, [true]]);
    await pool.drain(0);
  });

  it.each([
    ['a handler meets it', { handle: away }, undefined],
    ['the ledger meets it too', { handle: away, ledger: { begin: away, failed: away, released: away } }, undefined],
    ['the publishing meets it', { handle: async () => [output] }, away],
  ] as const)('without outage-pause makes a dead letter of the record when %s', async (_who, part, publish) => {
    const { story } = await tell(input, part, 'outage-pause', publish);
    await until('it is over', () => story.over);
    expect([story.letters.length, story.handled.length, story.pauses]).toEqual([1, 3, []]);
    expect(story.letters[0]!.headers['dead-reason']).toBe('failed');
  });

  it('without store-refusals takes a record for ended whose end the ledger has no room for', async () => {
    const full = () => Promise.reject(new Failure('STORE_FULL'));
    const { story } = await tell(input, { handle: async () => [], ledger: { begin: full, done: full } }, 'store-refusals');
    await until('it is over', () => story.over);
    expect([story.handled.length, story.pauses]).toEqual([1, []]);
  });

  it.each([
    ['nothing', 0, 1],
    ['process-deaths', 1, 0],
  ] as const)('without %s runs a record that has killed nine processes %d times', async (without, handled, letters) => {
    const { story } = await tell(input, { ledger: { begin: async () => ({ attempts: 10, deaths: 9, suspects: 0 }) } }, without);
    await until('it is over', () => story.over);
    expect([story.handled.length, story.letters.length]).toEqual([handled, letters]);
  });

  it.each([
    ['nothing', true],
    ['deadline-check', false],
  ] as const)('without %s lets a worker see that the time of a task is over: %s', async (without, over) => {
    const runId = newRunId();
    const task: Event = { ...nthInput(runId, 2), type: 'TaskDispatched', data: { taskId: `${runId}/0/t1`, startBy: 1_000 } };
    const begun: Event[] = [];
    const change =
      unprotectedPool(new Set(without === 'nothing' ? [] : [without]), 'embedded') ?? ((options: DeliveryPoolOptions) => options);
    const handle = async ({ event }: { readonly event: Event }): Promise<readonly Event[]> => (begun.push(event), []);
    const options = change({ subscription: { handle } } as unknown as DeliveryPoolOptions);
    const delivery = { group: 'tasks.expert', attempt: 1, appendedAt: 1, signal: new AbortController().signal };
    await options.subscription.handle({ ...delivery, event: task });
    await options.subscription.handle({ ...delivery, event: nthInput(runId, 1) });
    expect((begun[0]!.data as TaskDispatched['data']).startBy < Date.now()).toBe(over);
    expect(begun[1]).toEqual(nthInput(runId, 1));
  });
});
