import { describe, expect, it } from '@jest/globals';
import { factSentence } from '@conclave/contracts';
import { research, Scenario } from './testing/scenario.js';
import { stepping } from './testing/stepping.js';

describe('a task that the engine cancels', () => {
  it('says why, and how long ago it was dispatched', () => {
    const run = new Scenario({ strategy: 'stepping' }, stepping);
    run.requested();
    run.planned(0, [research('r1', 'who founded it'), { ...research('r2', 'when'), needs: ['r1'] }]);
    run.now += 1_300;
    const { entries, facts } = run.command(1, { name: 'override_step', skill: 'research', input: 'look elsewhere' })!;
    expect(facts.filter(({ kind }) => kind === 'TaskSettled' || kind === 'TaskRefused').map((fact) => factSentence(fact))).toEqual([
      'Task 0/r1 (research) ended as cancelled after 1.3 s: The strategy no longer needs it.',
      expect.stringContaining('no longer needed'),
    ]);
    expect(entries).toContainEqual(expect.objectContaining({ kind: 'task.settled', durationMs: 1_300 }));
    run.cancel(2);
    expect(
      run.facts
        .filter(({ kind }) => kind === 'TaskSettled')
        .map((fact) => factSentence(fact))
        .at(-1),
    ).toContain('The run was ending.');
  });
});
