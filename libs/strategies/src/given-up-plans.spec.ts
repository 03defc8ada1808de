import { describe, expect, it } from '@jest/globals';
import type { GapDetected } from '@conclave/contracts';
import { deciding } from './testing/deciding.js';
import { oneCall, research, runId, Scenario } from './testing/scenario.js';

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

  it.each(['while it was awaited', 'after it had timed out during a pause'])('is followed by a plan that is asked for, %s', (when) => {
    const strategy = {
      ...deciding([]),
      commands: ['pause', 'resume', 'override_step'] as const,
      onCommand: () => [{ do: 'plan' } as const],
    };
    const run = new Scenario({ strategy: 'deciding' }, strategy);
    run.requested();
    const override = { name: 'override_step', skill: 'research', input: 'x' } as const;
    if (when === 'while it was awaited') run.command(1, override);
    else {
      run.command(1, { name: 'pause' });
      run.command(2, override);
      run.fired();
      run.command(3, { name: 'resume' });
    }
    expect(run.state!.awaiting?.epoch).toBe(1);
    const gaps = run.outputs.filter((event): event is GapDetected => event.type === 'GapDetected');
    expect(gaps.map(({ data }) => [data.epoch, data.first])).toEqual([[0, true]]);
    run.planned(0, [research('old', 'of the plan that was given up')]);
    run.planned(1, [research('r', 'of the plan that was asked for')]);
    expect(run.dispatched()).toEqual(['1/r']);
    expect(run.state!.spent.calls).toBe(2);
  });

  it('is paid once, however often its planner says what it used, and a plan that was taken is not paid again', () => {
    const run = new Scenario();
    run.requested();
    run.fired();
    const failure = { code: 'CALL_CANCELLED', message: 'The plan was no longer awaited.', retriable: false };
    for (const _ of [1, 2]) run.planned(0, [], oneCall, { failure });
    expect(run.state!.spent.calls).toBe(1);
    run.answered('fallback', 'A did.');
    run.judged('needs_more_info', 'the year');
    for (const _ of [1, 2]) run.planned(1, [research('r1', 'the year')]);
    expect(run.state!.spent.calls).toBe(4);
  });

  it('of a run whose cancel flag its planner found ends the run after seconds if the command does not come', () => {
    const run = new Scenario();
    run.requested();
    const failure = { code: 'CALL_CANCELLED', message: 'The plan was no longer awaited.', retriable: false };
    run.planned(0, [], oneCall, { failure });
    expect(run.dispatched()).toEqual([]);
    expect(run.state!.due.at).toBe(run.now + 5_000);
    run.fired();
    expect(run.completed()).toMatchObject({ outcome: 'cancelled', reason: expect.stringContaining('the command itself was lost') });
    expect(run.state!.spent.calls).toBe(1);
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
