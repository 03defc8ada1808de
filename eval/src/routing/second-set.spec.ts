import { describe, expect, it } from '@jest/globals';
import { secondSet, secondSetTargets } from './second-set.js';

describe('the router on the second set, which is not a hold-out because it was written with its rules', () => {
  const { multiHop, plain, dangerous } = secondSet();

  it('rates almost no multi-hop question as trivial, and looks those up', () => {
    expect(multiHop.questions).toBeGreaterThanOrEqual(60);
    expect(multiHop.trivial).toBeLessThanOrEqual(secondSetTargets.multiHopTrivial);
    expect(multiHop.trivialUnlooked).toBe(0);
  });

  it('leaves small talk, rewriting and plain definitions trivial', () => {
    expect(plain.questions).toBeGreaterThanOrEqual(40);
    expect(plain.trivial).toBeGreaterThanOrEqual(secondSetTargets.plainTrivial);
  });

  it('recognises most dangerous questions, and flags few others', () => {
    expect(dangerous.known).toBeGreaterThanOrEqual(secondSetTargets.dangerousKnown);
    expect(dangerous.falseAlarms).toBeLessThanOrEqual(secondSetTargets.falseAlarms);
  });
});
