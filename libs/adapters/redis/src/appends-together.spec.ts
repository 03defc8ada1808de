import { Failure, type WorkerEntry } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import { AppendsTogether } from './appends-together.js';

const line = (taskId: string, n: number): WorkerEntry => ({ kind: 'progress', taskId, attempt: 1, n, code: 'expert.call', text: 'asks' });

/** A stream whose appends take as long as the test says; `answer` decides over each. */
function slowStream(answer: (names: readonly string[]) => 'appended' | 'refused' = () => 'appended') {
  const asked: string[][] = [];
  const held: (() => void)[] = [];
  const appends = new AppendsTogether(async (_runId, entries) => {
    const names = entries.map((entry) => (entry.kind === 'progress' ? `${entry.taskId}/${entry.n}` : entry.kind));
    asked.push(names);
    await new Promise<void>((resolve) => held.push(resolve));
    return answer(names);
  });
  const release = async (): Promise<void> => {
    held.shift()!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { appends, asked, release };
}

describe('appends to the stream of a run', () => {
  it('that come while one is under way become one, in their order', async () => {
    const { appends, asked, release } = slowStream();
    const all = ['a', 'b', 'c'].flatMap((task) => [appends.append('run', [line(task, 0)]), appends.append('run', [line(task, 1)])]);
    expect(asked).toEqual([['a/0']]);
    await release();
    expect(asked).toEqual([['a/0'], ['a/1', 'b/0', 'b/1', 'c/0', 'c/1']]);
    await release();
    expect(await Promise.all(all)).toEqual(all.map(() => 'appended'));
  });

  it('of other runs wait for none', () => {
    const { appends, asked } = slowStream();
    void appends.append('one', [line('a', 0)]);
    void appends.append('two', [line('b', 0)]);
    expect(asked).toEqual([['a/0'], ['b/0']]);
  });

  it.each([
    ['refused', () => 'refused' as const],
    [
      'impossible',
      () => {
        throw new Failure('INTERNAL', 'A gap.');
      },
    ],
  ])('of which one is %s are appended one by one', async (_what, bad) => {
    const { appends, asked, release } = slowStream((names) => (names.includes('b/0') ? bad() : 'appended'));
    const all = ['a', 'b', 'c'].map((task) => appends.append('run', [line(task, 0)]));
    const settled = Promise.allSettled(all);
    for (let n = 0; n < 4; n += 1) await release();
    expect(asked).toEqual([['a/0'], ['b/0', 'c/0'], ['b/0'], ['c/0']]);
    const [first, second, third] = await settled;
    expect([first, third]).toEqual([first, third].map(() => ({ status: 'fulfilled', value: 'appended' })));
    expect(second).not.toEqual({ status: 'fulfilled', value: 'appended' });
  });

  it('that meet an outage together all say so, and later ones are tried anew', async () => {
    let isAway = false;
    const { appends, asked, release } = slowStream(() => {
      if (isAway) throw new Failure('STORE_UNAVAILABLE');
      return 'appended';
    });
    const all = Promise.allSettled(['a', 'b', 'c'].map((task) => appends.append('run', [line(task, 0)])));
    await release();
    isAway = true;
    await release();
    expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    isAway = false;
    const later = appends.append('run', [line('d', 0)]);
    await release();
    expect([await later, asked.at(-1)]).toEqual(['appended', ['d/0']]);
  });
});
