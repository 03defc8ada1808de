import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { questionPairs } from './cache/pairs/question-pair.js';
import type { Half } from './halves.js';
import { labelledPrompts } from './routing/prompts/labelled-prompt.js';

const digestOfRegression = (entries: readonly { readonly half: Half }[]): string =>
  createHash('sha256')
    .update(
      entries
        .filter(({ half }) => half === 'regression')
        .map((entry) => JSON.stringify(entry))
        .join('\n'),
    )
    .digest('hex');

/** Changing an entry, its label or its half makes earlier published figures worthless, because they can no longer be compared. */
describe('the regression half', () => {
  it('of the labelled prompts has not changed', () => {
    expect(labelledPrompts.filter(({ half }) => half === 'regression')).toHaveLength(126);
    expect(digestOfRegression(labelledPrompts)).toBe('d162b379eb9812d745cd9861cc22c808894cae79a5432304972394416726d92b');
  });

  it('of the question pairs has not changed', () => {
    expect(questionPairs.filter(({ half }) => half === 'regression')).toHaveLength(110);
    expect(digestOfRegression(questionPairs)).toBe('101907fa83af6d148ac21f19b1c8eb72563567cbee98e6ad1697cefc3c035795');
  });
});
