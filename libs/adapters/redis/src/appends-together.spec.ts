import { Failure, type WorkerEntry } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import { AppendsTogether } from './appends-together.js';

const line = (taskId: string, n: number): WorkerEntry => ({ kind: 'progress', taskId, attempt: 1, n, code: 'expert.call', text: 'asks' });

/** A stream whose appends take as long as the test decides; `answer` returns the result of each. */
function slowStream(answer: (names: readonly string[]) => 'appended' | 'refused' = () => 'appended') {
  const asked: string[][] = [];
  const held: (() => void)[] = [];
  const appends = new AppendsTogether(async (_runId, entries) => {
    const names = entries.map((entry) => (entry.kind === 'progress' ? `${entry.taskId}/${entry.n}` : entry.kind));
    asked.push(names);
    await new Promise<void>((resolve) => held.push(resolve));
    return answer(names);
  });
  /** Lets the pending requests reach the stream. */
  const turn = async (): Promise<void> => {
    for (let n = 0; n < 2; n += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const release = async (): Promise<void> => {
    held.shift()!();
    await turn();
  };
  return { appends, asked, turn, release };
}

describe('appends to the stream of a run', () => {
  it('that are requested in one turn of the event loop become one, in order', async () => {
    const { appends, asked, turn, release } = slowStream();
    const all = ['a', 'b'].flatMap((task) => [appends.append('run', [line(task, 0)]), appends.append('run', [line(task, 1)])]);
    expect(asked).toEqual([]);
    await turn();
    expect(asked).toEqual([['a/0', 'a/1', 'b/0', 'b/1']]);
    await release();
    expect(await Promise.all(all)).toEqual(all.map(() => 'appended'));
  });

  it('of one task wait for the one before, while those of other tasks do not', async () => {
    const { appends, asked, turn, release } = slowStream();
    void appends.append('run', [line('a', 0)]);
    await turn();
    void appends.append('run', [line('a', 1)]);
    void appends.append('run', [line('b', 0)]);
    void appends.append('run', [line('a', 2)]);
    void appends.append('run', [line('a', 3), line('c', 0)]);
    void appends.append('run', [line('c', 1)]);
    await turn();
    expect(asked).toEqual([['a/0'], ['b/0']]);
    await release();
    expect(asked.slice(2)).toEqual([['a/1', 'a/2', 'a/3', 'c/0', 'c/1']]);
  });

  it('of other runs do not wait', async () => {
    const { appends, asked, turn } = slowStream();
    void appends.append('one', [line('a', 0)]);
    void appends.append('two', [line('a', 0)]);
    await turn();
    expect(asked).toEqual([['a/0'], ['a/0']]);
  });

  it.each([
    ['refused', () => 'refused' as const],
    [
      'impossible',
      () => {
        throw new Failure('INTERNAL', 'A gap.');
      },
    ],
  ])('of which one is %s are retried one by one', async (_what, bad) => {
    const { appends, asked, turn, release } = slowStream((names) => (names.includes('b/0') ? bad() : 'appended'));
    const all = ['a', 'b', 'c'].map((task) => appends.append('run', [line(task, 0)]));
    const settled = Promise.allSettled(all);
    await turn();
    for (let n = 0; n < 4; n += 1) await release();
    expect(asked).toEqual([['a/0', 'b/0', 'c/0'], ['a/0'], ['b/0'], ['c/0']]);
    const [first, second, third] = await settled;
    expect([first, third]).toEqual([first, third].map(() => ({ status: 'fulfilled', value: 'appended' })));
    expect(second).not.toEqual({ status: 'fulfilled', value: 'appended' });
  });

  it('that meet an outage together all fail, and later ones are tried again', async () => {
    let isAway = true;
    const { appends, asked, turn, release } = slowStream(() => {
      if (isAway) throw new Failure('STORE_UNAVAILABLE');
      return 'appended';
    });
    const all = Promise.allSettled(['a', 'b'].map((task) => appends.append('run', [line(task, 0)])));
    await turn();
    await release();
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isAway = false;
    const later = appends.append('run', [line('a', 1)]);
    await turn();
    await release();
    expect([await later, asked.at(-1)]).toEqual(['appended', ['a/1']]);
  });
});
