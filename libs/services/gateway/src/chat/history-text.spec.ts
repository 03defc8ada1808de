import { describe, expect, it } from '@jest/globals';
import { leastProcessorMs } from '@conclave/test-support';
import { withoutThinking } from './history-text.js';

describe('the thinking text of earlier turns', () => {
  it.each([
    ['<think>plan</think>\n\nIt is blue.', 'It is blue.'],
    ['<THINK>plan</Think>It is blue.', 'It is blue.'],
    ['<details type="reasoning" done="true">\n> steps\n</details>\nIt is blue.', 'It is blue.'],
    ['<reasoning>x</reasoning>It is <think>y</think>blue.', 'It is blue.'],
    ['<think>cut off before the answer', ''],
    ['A tag <think> in prose stays.', 'A tag <think> in prose stays.'],
    ['It is blue.', 'It is blue.'],
  ])('is removed from %j', (text, expected) => {
    expect(withoutThinking(text)).toBe(expected);
  });

  it('is removed in linear time', () => {
    const text = `A${'<think>'.repeat(120_000)}`;
    expect(leastProcessorMs(1_000, () => expect(withoutThinking(text)).toBe(text))).toBeLessThan(1_000);
  });

  it('is cut exactly at the tags, even after letters that become longer in lower case', () => {
    expect(withoutThinking('İİİİ <THINK>İ düşünce</think>İstanbul’da yağmur var.')).toBe('İİİİ İstanbul’da yağmur var.');
  });
});
