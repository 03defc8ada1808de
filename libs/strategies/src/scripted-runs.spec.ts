import { describe, expect, it } from '@jest/globals';
import { decisionTable } from '@conclave/loop';
import { endFaults } from './testing/drawn-run.js';
import { guards, scriptedRuns, visibleText } from './testing/scripted-runs.js';

describe('a scripted run', () => {
  it.each(scriptedRuns.map((run) => [run.name, run] as const))(
    'ends as written, and says why: %s',
    (_name, { play, outcome, rule, says, covers }) => {
      const run = play();
      expect(endFaults(run)).toEqual([]);
      const took = run.state!.decisions.map((decision) => decision.rule);
      const end = run.completed()!;
      expect({ outcome: end['outcome'], text: says.test(visibleText(run)) ? '' : visibleText(run) }).toEqual({ outcome, text: '' });
      for (const covered of covers) if (/^D\d+$/.test(covered)) expect(took).toContain(covered);
      if (rule === null) expect(end['rule']).toBeNull();
      if (outcome === 'failed') expect(end['failure']).not.toBeNull();
      else if (outcome !== 'cancelled') expect(end['answer']).toBeTruthy();
    },
  );
});

describe('the scripted runs', () => {
  it('cover every row of the decision table and every guard', () => {
    const covered = new Set(scriptedRuns.flatMap(({ covers }) => covers));
    expect(['D1', ...decisionTable.map(({ id }) => id), ...guards].filter((what) => !covered.has(what as never))).toEqual([]);
    expect(scriptedRuns.length).toBeGreaterThanOrEqual(40);
    expect(new Set(scriptedRuns.map(({ name }) => name)).size).toBe(scriptedRuns.length);
  });
});
