import { describe, expect, it } from '@jest/globals';
import { heldApart, heldApartTargets } from './held-apart.js';

describe('the router on questions that no rule was written for', () => {
  const { multiHop, plain, dangerous } = heldApart();

  it('lets nearly no question over several hops pass as trivial, and looks every one of those up', () => {
    expect(multiHop.questions).toBeGreaterThanOrEqual(60);
    expect(multiHop.trivial).toBeLessThanOrEqual(heldApartTargets.multiHopTrivial);
    expect(multiHop.trivialUnlooked).toBe(0);
  });

  it('leaves small talk, rewriting and plain definitions trivial', () => {
    expect(plain.questions).toBeGreaterThanOrEqual(40);
    expect(plain.trivial).toBeGreaterThanOrEqual(heldApartTargets.plainTrivial);
  });

  it('knows most dangerous questions by itself, and calls few others so', () => {
    expect(dangerous.known).toBeGreaterThanOrEqual(heldApartTargets.dangerousKnown);
    expect(dangerous.falseAlarms).toBeLessThanOrEqual(heldApartTargets.falseAlarms);
  });
});
