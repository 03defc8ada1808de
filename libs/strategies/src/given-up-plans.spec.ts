import { describe, expect, it } from '@jest/globals';
import { research, runId, Scenario } from './testing/scenario.js';

describe('a plan that the engine no longer waits for', () => {
  it('is a call in flight when the run ends, also if the run first writes its answer', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'who founded it')]);
    run.found('r1', 'A did.');
    run.judged('needs_more_info', 'the year');
    run.now += 256_000;
    run.fired();
    run.composed('A did [1].');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', openCalls: 1 });
  });

  it('is in flight no longer once its cost was counted', () => {
    const run = new Scenario();
    run.requested();
    run.fired();
    run.planned(0, [research('r1', 'who founded it')]);
    run.cancel();
    expect(run.completed()).toMatchObject({ usage: { calls: 1 }, openCalls: 1 });
    expect(run.state!.givenUp).toEqual([{ epoch: 0, counted: true }]);
    expect(run.state!.tasks[`${runId}/0/fallback`]!.unanswered).toBe(true);
  });
});
