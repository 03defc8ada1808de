import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newFolder, removeFolder } from '../__fixtures__/folder.js';
import { CorpusIndex } from './corpus-index.js';

describe('the index of a folder', () => {
  let root: string;
  let path: string;
  beforeEach(() => {
    root = newFolder();
    path = join(root, 'index.db');
  });
  afterEach(() => removeFolder(root));

  const text = (of: string): string =>
    Array.from(
      { length: 12_000 },
      (_, n) => `Paragraph ${n} of ${of} tells about harbours, and about the ice of winter ${n % 97}.\n\n`,
    ).join('');
  /** How often other work of the process ran before the change was made. */
  const turnsDuring = async (change: Promise<void>): Promise<number> => {
    let isDone = false;
    let turns = 0;
    void change.finally(() => (isDone = true));
    while (!isDone) {
      await nextTurn();
      turns += 1;
    }
    return turns;
  };

  it('lets other work run while a long text is added, replaced and removed, and finds what is written', async () => {
    const index = CorpusIndex.open(path);
    const adding = index.update([{ path: 'a.md', stamp: '1', source: text('one') }], []);
    await nextTurn();
    expect(index.find('"harbours"', 5).length).toBeGreaterThan(0);
    expect(index.files()).toEqual([{ path: 'a.md', stamp: '' }]);
    const before = index.contents();
    expect(await turnsDuring(adding)).toBeGreaterThan(3);
    expect(index.files()).toEqual([{ path: 'a.md', stamp: '1' }]);
    expect(index.contents()).not.toBe(before);
    expect(await turnsDuring(index.update([{ path: 'a.md', stamp: '2', source: text('two') }], []))).toBeGreaterThan(3);
    expect([index.find('"one"', 5).length, index.find('"two"', 5).length]).toEqual([0, 2]);
    expect(await turnsDuring(index.update([], ['a.md']))).toBeGreaterThan(1);
    expect([index.size, index.find('"harbours"', 5)]).toEqual([0, []]);
    index.close();
  });

  it('reads a document again that was only partly written when its process ended', async () => {
    const first = CorpusIndex.open(path);
    const adding = first.update([{ path: 'a.md', stamp: '1', source: text('one') }], []);
    await nextTurn();
    first.close();
    await adding;
    const second = CorpusIndex.open(path);
    expect(second.files()).toEqual([{ path: 'a.md', stamp: '' }]);
    await second.update([{ path: 'a.md', stamp: '1', source: 'Short now.' }], []);
    expect(second.files()).toEqual([{ path: 'a.md', stamp: '1' }]);
    expect([second.find('"harbours"', 5), second.find('"short"', 5).length]).toEqual([[], 1]);
    second.close();
  });
});
