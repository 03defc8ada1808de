import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { chunksOf, embeddedText, storedText } from './chunks.js';

describe('the chunks of a document', () => {
  it('are its passages, with ids that count them', async () => {
    expect(await chunksOf('doc', '# Harbours\n\nThey wait.\n\n## Ice\n\nIt freezes.')).toEqual([
      { id: 'doc#0', headings: ['Harbours'], text: 'They wait.' },
      { id: 'doc#1', headings: ['Harbours', 'Ice'], text: 'It freezes.' },
    ]);
  });

  it('are embedded with all headings, and stored with the one right above them', () => {
    const chunk = { headings: ['Harbours', 'Ice'], text: 'It freezes.' };
    expect([embeddedText(chunk), storedText(chunk)]).toEqual(['Harbours / Ice\nIt freezes.', 'Ice\nIt freezes.']);
    expect([embeddedText({ headings: [], text: 'Ice.' }), storedText({ headings: [], text: 'Ice.' })]).toEqual(['Ice.', 'Ice.']);
  });

  it('are made while other work runs, and no more than one above the limit', async () => {
    let turns = 0;
    let isDone = false;
    const cutting = chunksOf('doc', 'A sentence about harbours, and about ice. '.repeat(200_000)).finally(() => (isDone = true));
    while (!isDone) {
      await nextTurn();
      turns += 1;
    }
    expect((await cutting).length).toBeGreaterThan(10_000);
    expect(turns).toBeGreaterThan(1);
    expect(await chunksOf('doc', 'One.\n\n# A\n\nTwo.\n\n# B\n\nThree.\n\n# C\n\nFour.', {}, 2)).toHaveLength(3);
  });
});
