import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { contradictions } from './contradictions.js';

const found = (a: string, b: string, tasks: readonly [string, string] = ['What holds?', 'What holds?']): number =>
  contradictions([
    { by: 'general', task: tasks[0], text: a },
    { by: 'science', task: tasks[1], text: b },
  ]).length;

describe('two experts', () => {
  it.each([
    ['It opened in 1931.', 'The bridge opened in 1932.'],
    ['The bridge opened on 3 May 1931.', 'The bridge opened on 3 June 1931.'],
    ['The tower is 300 m high.', 'The tower is about 310 m high.'],
    ['Yes, it may be ended.', 'No, the law forbids it.'],
    ['The notice has to be in writing.', 'The notice does not have to be in writing.'],
    ['Die Brücke wurde 1931 eröffnet.', 'Die Brücke wurde 1932 eröffnet.'],
    ['The rate is 3.5 %.', 'The rate is 4,5 %.'],
  ])('asked the same contradict each other: %s / %s', (a, b) => {
    expect(found(a, b)).toBe(1);
  });

  it.each([
    ['The tower is 300 m high.', 'The tower is 300 m high, as the plan says.'],
    ['The tower is 2,340 m high.', 'The tower is 2340 m high.'],
    ['Mount Anna is 800 m high.', 'Mount Berta is 900 m high.'],
    ['The bridge opened in 1931.', 'The bridge cost 40 million.'],
    ['It opened in 1931.', 'It was built from 1927 to 1931.'],
    ['Yes, it may be ended.', 'Yes, within 14 days.'],
    ['Nobody knows.', 'It opened in 1931.'],
  ])('do not if both may be true: %s / %s', (a, b) => {
    expect(found(a, b)).toBe(0);
  });

  it('asked different things contradict each other only if both name their subject', () => {
    const tasks = ['Price of the kitchen', 'Price of the bathroom'] as const;
    expect(found('It costs 30 euros.', 'It costs 40 euros.', tasks)).toBe(0);
    expect(found('The bridge opened in 1931.', 'The bridge opened in 1932.', tasks)).toBe(1);
  });

  it('never contradict themselves, and the order does not matter', () => {
    const text = fc
      .array(fc.constantFrom('the', 'tower', 'is', 'not', '300', '310', 'm', 'high', 'May', 'yes', 'no', '.'), { maxLength: 8 })
      .map((words) => words.join(' '));
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(found(a, a)).toBe(0);
        expect(found(a, b)).toBe(found(b, a));
      }),
    );
  });
});
