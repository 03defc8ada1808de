import { beforeAll, describe, expect, it } from '@jest/globals';
import { gains, measureLoops, recallOf, type Measured } from './loop.js';
import { bridges, interval, newNames } from './two-hops.js';

describe('two-hop questions through the engine', () => {
  let measured: Measured;
  beforeAll(async () => {
    measured = await measureLoops(180, 23);
  }, 120_000);

  it('are found more often by the loops, with more calls', () => {
    const { hops } = measured;
    expect(measured.questions).toBeGreaterThanOrEqual(50);
    expect(recallOf(hops['single-pass'])).toBeLessThan(0.6);
    for (const name of ['agentic', 'waves'] as const) {
      expect(recallOf(hops[name]) - recallOf(hops['single-pass'])).toBeGreaterThanOrEqual(0.15);
      expect(hops[name].every(({ rounds, calls }) => rounds <= 2 && calls >= 2)).toBe(true);
    }
  });

  it('gain nothing where the texts are shuffled: the second query comes from what was retrieved', () => {
    for (const name of ['agentic', 'waves'] as const) {
      const [low, high] = interval(gains(measured.control, name));
      expect(low).toBeLessThanOrEqual(0);
      expect(high).toBeGreaterThanOrEqual(0);
    }
  });
});

describe('the scripted planner', () => {
  it('asks for names that were found and that the question does not have', () => {
    expect(newNames('Who founded the Elmstone Rope Company?', ['The Elmstone Rope Company was founded by Ada Pell.'])).toEqual([
      'Ada Pell',
    ]);
  });

  it('gets questions that do not name the second paragraph', () => {
    const [one] = bridges([
      { question: 'In which town was Ada Pell, founder of the Elm Company, born?', gold: ['Elm Company', 'Ada Pell'] },
    ]);
    expect(one!.question).toBe('In which town was the founder of the Elm Company born?');
  });

  it('is compared by an interval that lies around the mean', () => {
    const [low, high] = interval([1, 1, 0, 0, 1, 0, -1, 1]);
    expect([low < 0.375, high > 0.375]).toEqual([true, true]);
  });
});
