import { describe, expect, it } from '@jest/globals';
import { checkNames } from './checks/check.js';
import { targetOf } from './faults/crash-points.js';
import { plantedBugs } from './planted/all.js';
import { simulate } from './simulate.js';

/** Each planted bug must be found within this many seeds, counted from 0. */
const within = 3_000;
/**
 * Where the search begins: seeds that found a bug when this was written. After any change another seed may find it, so all are tried, and
 * the one that did is reported.
 */
const likely: Readonly<Record<string, number>> = {
  'commit-without-compare-and-set': 130,
  'applied-ids-not-stored': 357,
  'journal-accepts-lower-attempt': 244,
  'journal-ignores-leases': 13,
  'lost-answer-keeps-step': 579,
  'forgotten-before-published': 192,
  'publish-acknowledged-early': 173,
  'timer-removed-before-publish': 10,
  'cancel-not-level-triggered': 38,
  'stream-append-not-idempotent': 285,
  'superseded-not-written': 284,
  'outage-counted-as-failure': 260,
  'retry-mapping-overwritten': 120,
  'key-is-no-id': 117,
  'ordered-again': 326,
  'attempts-not-counted': 10,
  'passages-left': 2,
  'cancel-ends-at-parent': 139,
  'child-spends-freely': 19,
  'rated-twice': 5,
  'learned-after-deletion': 27,
  'command-reaches-root': 442,
  'cache-of-all-tenants': 161,
};
const patienceMs = 30 * 60_000;

describe('a planted bug', () => {
  it.each(plantedBugs.map((bug) => [bug.name, bug] as const))(
    'is found by its check, with ids: %s',
    async (name, bug) => {
      for (let n = 0; n < within; n += 1) {
        const seed = ((likely[name] ?? 0) + n) % within;
        const { violations } = await simulate({ seed, target: targetOf(seed), planted: bug.plant() });
        const [found] = violations.filter(({ check }) => check === bug.check);
        if (!found) continue;
        expect(found.id).not.toBe('');
        process.stderr.write(`${name}: seed ${seed}, ${found.check}: ${found.id} ${found.sentence}\n`);
        return;
      }
      throw new Error(`${within} seeds did not find it by the check "${bug.check}": ${bug.sentence}`);
    },
    patienceMs,
  );

  it('exists for every check, so every check can fail', () => {
    expect(new Set(plantedBugs.map(({ check }) => check))).toEqual(new Set(checkNames));
    expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length);
  });
});
