import { beforeEach, describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { type DeliveryLimits, Receivers } from './receivers.js';

const limits: DeliveryLimits = { atOnce: 8, waiting: 5, longestWaitMs: 1_000 };
/** One receiver gets at most this many of 8 concurrent deliveries. */
const share = 2;

let receivers: Receivers;
let clock: number;
/** Deliveries in progress, oldest first, with functions that end them. */
let posts: { readonly name: string; readonly runId: string; readonly end: (failure?: Failure) => Promise<void> }[];
/** How deliveries ended, by receiver and run. */
let ends: Map<string, string>;
beforeEach(() => {
  clock = 1_000_000;
  posts = [];
  ends = new Map();
  receivers = new Receivers(limits, () => clock);
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const failed = new Failure('WEBHOOK_FAILED', 'It did not answer.');

function deliver(name: string, runId: string, signal = new AbortController().signal): void {
  const post = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const one = {
        ...{ name, runId },
        end: async (failure?: Failure) => {
          posts.splice(posts.indexOf(one), 1);
          if (failure) reject(failure);
          else resolve();
          await settled();
        },
      };
      posts.push(one);
    });
  receivers.deliver(name, runId, signal, post).then(
    () => ends.set(`${name} ${runId}`, 'taken'),
    (error: Failure) => ends.set(`${name} ${runId}`, error.options.final ? 'dead' : error.code),
  );
}
const made = (name: string): string[] => posts.filter((post) => post.name === name).map(({ runId }) => runId);
async function endOf(name: string, failure?: Failure): Promise<void> {
  await settled();
  await posts.find((post) => post.name === name)!.end(failure);
}
const runsOf = (name: string, count: number, from = 0): void => {
  for (let n = from; n < from + count; n++) deliver(name, `r${n}`);
};

describe('deliveries to several receivers', () => {
  it('leave room for others while one of them does not answer', async () => {
    runsOf('silent', 20);
    runsOf('ops', 2);
    await settled();
    expect([made('silent'), made('ops')]).toEqual([
      ['r0', 'r1'],
      ['r0', 'r1'],
    ]);
    await endOf('ops');
    expect(ends.get('ops r0')).toBe('taken');
  });

  it('never exceed the total limit, and begin as earlier ones end', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) runsOf(name, 3);
    await settled();
    expect(posts).toHaveLength(limits.atOnce);
    expect(made('e')).toEqual([]);
    await endOf('a');
    expect([made('a'), made('e')]).toEqual([['r1'], ['r0']]);
    while (posts.length > 0) await posts[0]!.end();
    expect([...ends.values()]).toEqual(Array(15).fill('taken'));
  });

  it('wait in bounded number for a receiver that accepts none; further ones fail finally, and the waiting ones are tried again', async () => {
    runsOf('silent', 5);
    for (let n = 0; n < 5; n++) await endOf('silent', failed);
    runsOf('silent', 1, 5);
    await settled();
    expect(ends.get('silent r5')).toBe('dead');
    runsOf('silent', 5);
    await settled();
    expect(made('silent')).toEqual(['r0', 'r1']);
    await endOf('silent', failed);
    expect(ends.get('silent r0')).toBe('WEBHOOK_FAILED');
    await endOf('silent');
    // The receiver accepts deliveries again: none is refused.
    runsOf('silent', 6, 6);
    await settled();
    expect([...ends.values()].filter((end) => end === 'dead')).toHaveLength(1);
  });

  it('that arrived together before the receiver failed are refused as soon as it has failed, the newest first', async () => {
    runsOf('silent', 9);
    await endOf('silent', failed);
    expect([...ends.values()]).toEqual(['WEBHOOK_FAILED']);
    await endOf('silent', failed);
    expect([...ends].filter(([, end]) => end === 'dead').map(([id]) => id)).toEqual(['silent r8', 'silent r7', 'silent r6', 'silent r5']);
    expect(made('silent')).toEqual(['r2', 'r3']);
  });

  it('are not refused for a receiver that accepts them slowly', async () => {
    runsOf('slow', 50);
    await endOf('slow', failed);
    for (let n = 0; n < 49; n++) await endOf('slow');
    expect([...ends.values()].filter((end) => end === 'taken')).toHaveLength(49);
  });

  it('forget runs that are dead, deleted, or have been with another process for long', async () => {
    runsOf('silent', 5);
    for (let n = 0; n < 5; n++) await endOf('silent', failed);
    receivers.forget('silent', 'r0');
    runsOf('silent', 1, 5);
    await settled();
    expect(made('silent')).toEqual(['r5']);
    await endOf('silent', failed);
    clock += 2 * limits.longestWaitMs + 60_001;
    runsOf('silent', 2, 6);
    await settled();
    expect(made('silent')).toEqual(['r6', 'r7']);
  });

  it('end before their turn when the process is told to stop', async () => {
    const stopping = new AbortController();
    runsOf('silent', share);
    deliver('silent', 'late', stopping.signal);
    stopping.abort();
    deliver('silent', 'later', stopping.signal);
    await settled();
    expect(ends).toEqual(new Map(['late', 'later'].map((id) => [`silent ${id}`, 'CALL_CANCELLED'])));
    await endOf('silent');
    expect(made('silent')).toEqual(['r1']);
  });
});
