import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { questionPairs } from './cache/pairs/question-pair.js';
import type { Half } from './halves.js';
import { labelledPrompts } from './routing/prompts/labelled-prompt.js';

const digestOfFrozen = (entries: readonly { readonly half: Half }[]): string =>
  createHash('sha256')
    .update(entries.filter(({ half }) => half === 'frozen').map((entry) => JSON.stringify(entry)).join('\n'))
    .digest('hex'); // prettier-ignore

/**
 * Who changes a frozen entry, its label or the half it is in makes all figures that were published before worthless. New entries at the
 * end of a list may be frozen before any rule has seen them, with a new digest here and a line in the change log.
 */
describe('the frozen half', () => {
  it('of the labelled prompts is the one that was written before the rules', () => {
    expect(labelledPrompts.filter(({ half }) => half === 'frozen')).toHaveLength(126);
    expect(digestOfFrozen(labelledPrompts)).toBe('fb2cdd084fee5bc8a147f950d5acd1edc24c2b4d54a215abea5aaeffa15fb11d');
  });

  it('of the question pairs is the one that was written before the rules', () => {
    expect(questionPairs.filter(({ half }) => half === 'frozen')).toHaveLength(110);
    expect(digestOfFrozen(questionPairs)).toBe('1957afbe64d9110bcb7bdebb32b9f174d2ab601e218540aec559f4c907efa532');
  });
});
