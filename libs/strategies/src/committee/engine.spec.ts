import { describe, expect, it } from '@jest/globals';
import { noUsage } from '@conclave/contracts';
import { NotBegun } from '@conclave/loop';
import { expert, oneCall, research, Scenario } from '../testing/scenario.js';

const twoHop = (): Scenario => {
  const run = new Scenario();
  run.requested();
  run.planned(0, [research('r1', 'who founded it'), expert('x1', 'answer it', ['r1'])]);
  run.found('r1', 'It was founded by A.');
  run.answered('x1', 'A founded it.');
  return run;
};

describe('the engine', () => {
  it('follows the reference flow: plan, evidence, expert, gap, re-plan, synthesis, one terminal event', () => {
    const run = twoHop();
    expect(run.dispatched()).toEqual(['0/r1', '0/x1', '0/judge.gap']);
    run.judged('needs_more_info', 'where A was born');
    expect(run.types().at(-1)).toBe('GapDetected');
    run.planned(1, [research('r1', 'birthplace of A')]);
    run.found('r1', 'A was born in B.');
    run.judged('complete');
    expect(run.dispatched()).toEqual(['0/r1', '0/x1', '0/judge.gap', '1/r1', '1/judge.gap', '1/judge.synthesis']);
    run.composed('B [1]');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D3', answer: 'B [1]', rounds: 2 });
    expect(run.state!.decisions.map((decision) => decision.rule)).toEqual(['D9', 'D3']);
  });

  it('has one timer, for the earliest moment at which the clock changes something, and none in its last step', () => {
    const run = new Scenario();
    expect(run.requested()!.timer).toEqual({ arm: 1, at: run.now + 60_000 });
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'yes');
    run.judged('complete');
    run.composed('yes');
    expect(run.state!.due.at).toBeNull();
  });

  it('dispatches a task only when everything it needs is settled, even if that failed', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'q'), expert('x1', 'answer', ['r1'])]);
    expect(run.dispatched()).toEqual(['0/r1']);
    run.failed('r1');
    expect(run.dispatched()).toEqual(['0/r1', '0/x1']);
  });

  it.each([
    ['The quay is 70 m long.', ['general (confidence 0.6): The quay is 40 m long. / general (confidence 0.6): The quay is 70 m long.']],
    ['The quay is 40 m long, and red.', []],
  ])('notes before the synthesis where experts contradict each other: %s', (other, pairs) => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'How long is it?'), expert('x2', 'How long is it in metres?')]);
    run.answered('x1', 'The quay is 40 m long.');
    run.answered('x2', other);
    run.judged('complete');
    const noted = run.facts.flatMap((fact) => (fact.kind === 'Noted' && fact.text ? [fact.text] : []));
    expect(noted).toEqual(pairs.map((pair) => `Experts contradict each other, which the answer is to say: ${pair}`));
    expect(run.dispatched().at(-1)).toBe('0/judge.synthesis');
  });

  it('ignores inputs of a run that has not begun, and results of an unknown task', () => {
    const run = new Scenario();
    expect(() => run.planned(0, [expert('x1', 'answer')])).toThrow(NotBegun);
    expect(() => run.cancel()).toThrow(NotBegun);
    run.requested();
    expect(() => run.answered('x1', 'early')).toThrow(NotBegun);
    expect(run.requested()).toBeNull();
  });

  it('cancels open work and ignores everything after the end', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'q')]);
    expect(run.cancel()!.cancels).toEqual(['run_00000001/0/r1']);
    expect(run.found('r1', 'late')).toBeNull();
    expect(run.cancel(2)).toBeNull();
    expect(run.completed()).toMatchObject({ outcome: 'cancelled' });
  });

  it('assesses nothing in a template without re-plans and completes by D6', () => {
    const run = new Scenario({ strategy: 'single-pass', max_agentic_rounds: 0 });
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'yes');
    expect(run.dispatched()).toEqual(['0/x1', '0/judge.synthesis']);
    run.composed('yes');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D6' });
  });

  it('treats missing facts as insufficient without asking the judge', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'q')]);
    run.found('r1');
    expect(run.types().at(-1)).toBe('GapDetected');
    expect(run.dispatched()).toEqual(['0/r1']);
  });

  it('makes at most N re-plans and then ends limit_reached with the open gap', () => {
    const run = new Scenario({ max_agentic_rounds: 1 });
    run.requested();
    run.planned(0, [research('r1', 'first query')]);
    run.found('r1', 'a fact');
    run.judged('needs_more_info', 'the rest');
    run.planned(1, [research('r1', 'something else entirely')]);
    run.found('r1', 'another fact');
    expect(run.dispatched().at(-1)).toBe('1/judge.synthesis');
    run.composed('partly');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D6', reasonCode: 'rounds' });
    expect(run.types().filter((type) => type === 'GapDetected')).toHaveLength(1);
  });

  it('forbids what was tried after two rounds without a new fact', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'alpha')]);
    run.found('r1');
    run.planned(1, [research('r1', 'beta gamma')]);
    run.found('r1');
    const gap = run.outputs.findLast((event) => event.type === 'GapDetected')!.data as { forbidden: string[] };
    expect(gap.forbidden).toEqual(['research: alpha', 'research: beta gamma']);
    expect(run.state!.decisions.at(-1)!.rule).toBe('D7');
  });

  it('ends failed with the failure of the expert when nothing was found at all', () => {
    const run = new Scenario({ max_agentic_rounds: 0 });
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.failed('x1');
    expect(run.completed()).toMatchObject({ outcome: 'failed', answer: null, failure: { code: 'PROVIDER_FAILED' } });
  });

  it('is stuck after three failed rounds', () => {
    const run = new Scenario();
    run.requested();
    for (const epoch of [0, 1, 2]) {
      run.planned(epoch, [research('r1', `query number ${'abc'[epoch]} about ${'xyz'[epoch]}`)]);
      run.failed('r1');
    }
    run.composed('A did, I think.');
    expect(run.completed()).toMatchObject({ outcome: 'stuck', answer: 'A did, I think.' });
    expect(run.state!.decisions.at(-1)!.rule).toBe('D4');
  });

  it('fails with a reason that says the same failure once', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'a query')]);
    run.result('r1', { status: 'error', failure: { code: 'PROVIDER_UNREACHABLE', message: 'gone', retriable: true } });
    run.planFailed(1);
    run.result('judge.synthesis', { status: 'error', failure: { code: 'PROVIDER_UNREACHABLE', message: 'gone', retriable: true } });
    expect(run.completed()!.reason).toBe('The planner gave no further plan: gone. Nothing was found to answer from.');
  });

  it('uses the general task if the first plan never arrives, and finishes stuck if a re-plan never arrives', () => {
    const run = new Scenario();
    run.requested();
    run.fired();
    expect(run.dispatched()).toEqual(['0/fallback']);
    run.answered('fallback', 'maybe');
    run.judged('needs_more_info', 'proof');
    run.fired();
    run.composed('maybe');
    expect(run.completed()).toMatchObject({ outcome: 'stuck', reasonCode: 'planner_failed' });
  });

  it('ignores a planner that answers after the fallback was used, but counts its cost', () => {
    const run = new Scenario();
    run.requested();
    run.fired();
    const before = run.state!.spent.calls;
    run.planned(0, [expert('x9', 'late')]);
    expect(run.dispatched()).toEqual(['0/fallback']);
    expect(run.state!.spent.calls).toBe(before + 1);
  });

  it('answers with the ledger, with the outcome unchanged, if the composer fails', () => {
    const run = twoHop();
    run.judged('complete');
    run.failed('judge.synthesis');
    expect(run.completed()).toMatchObject({ outcome: 'completed', reasonCode: 'composer_failed' });
    expect(run.completed()!['answer']).toContain('A founded it.');
    // Its reader sees that no model wrote it, and why.
    expect(run.completed()!['answer']).toContain(
      'The answer could not be written by a model (broken); it was put together from the findings.',
    );
  });

  it.each([
    ['unreadable', 'gave no readable verdict'],
    ['failed', 'failed'],
  ])('ends the loop after a gap check that was %s, and never says that anything was assessed', (how, words) => {
    const run = twoHop();
    if (how === 'failed') run.failed('judge.gap');
    else
      run.result('judge.gap', {
        output: { kind: 'assessment', assessment: { verdict: 'complete', gap: '', nextFocus: '', parsed: false } },
      });
    expect(run.decisions.at(-1)!.entries.find((entry) => entry.kind === 'assessed')).toMatchObject({ verdict: 'complete', parsed: false });
    expect(run.dispatched().at(-1)).toBe('0/judge.synthesis');
    run.composed('A [1]');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D3', reasonCode: `assessment_${how}`, assessed: false });
    expect(run.completed()!['reason']).toContain(words);
    expect(run.completed()!['reason']).not.toContain('sufficient');
  });

  it('says that it was assessed if a verdict of the last round was read', () => {
    const run = twoHop();
    run.judged('complete');
    run.composed('A [1]');
    expect(run.completed()).toMatchObject({ rule: 'D3', reasonCode: 'sufficient', assessed: true });
    const last = new Scenario({ max_agentic_rounds: 1 });
    last.requested();
    last.planned(0, [research('r1', 'first')]);
    last.found('r1', 'a fact');
    last.judged('needs_more_info', 'the rest');
    last.planned(1, [research('r1', 'second')]);
    last.found('r1', 'another fact');
    last.composed('partly');
    expect(last.completed()).toMatchObject({ rule: 'D6', assessed: false });
  });

  it('settles a task nobody started as unavailable if its class has no live worker, else as timed out', () => {
    for (const [liveWorkers, status] of [
      [0, 'unavailable'],
      [2, 'timeout'],
    ] as const) {
      const run = new Scenario();
      run.requested();
      run.planned(0, [research('r1', 'q')]);
      const decision = run.fired({ liveWorkers });
      expect(decision!.entries.find((entry) => entry.kind === 'task.settled')).toMatchObject({ status });
      expect(decision!.cancels).toEqual(['run_00000001/0/r1']);
    }
  });

  it('leaves a started task alone until its own deadline', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'q')]);
    expect(run.fired({ started: true })!.outputs).toEqual([]);
    run.fired({ started: true });
    expect(run.state!.tasks['run_00000001/0/r1']!.result!.status).toBe('timeout');
  });

  it('adds nothing to the answer for a late result, but counts what it cost, once', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'one'), expert('x2', 'two different words')]);
    run.fired();
    const spent = run.state!.spent.calls;
    const late = { output: { kind: 'answer' as const, text: 'too late', finding: 'too late' }, confidence: 0.9 };
    run.result('x1', late, 0);
    run.result('x1', late, 0);
    expect(run.state!.memory.facts).toEqual([]);
    expect(run.state!.spent.calls).toBe(spent + 1);
  });

  it('ignores a timer that was armed again or disarmed', () => {
    const run = new Scenario();
    run.requested();
    expect(run.fired({}, 7)).toBeNull();
    run.planned(0, [expert('x1', 'answer')]);
    expect(run.fired({}, 1)).toBeNull();
  });

  it('finishes with what it has at 85 % of the wall time, and without a call at 100 %', () => {
    const run = twoHop();
    run.now += 256_000;
    run.fired();
    expect(run.dispatched().at(-1)).toBe('0/judge.synthesis');
    run.now += 60_000;
    run.fired();
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D2', reasonCode: 'budget_wall_time_s' });
    expect(run.completed()!['answer']).toContain('A founded it.');
  });

  it('stops the loop when the context guard is reached but still writes the answer', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'answer')], { ...oneCall, prompt: 80_001 });
    run.answered('x1', 'yes');
    expect(run.dispatched()).toEqual(['0/x1', '0/judge.synthesis']);
    run.composed('yes');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D2', reasonCode: 'budget_prompt_tokens' });
  });

  it('answers from the ledger without a model call when the call budget is spent', () => {
    const run = new Scenario();
    run.requested({ model_calls: 3 });
    run.planned(0, [expert('x1', 'answer')]);
    run.result('x1', { output: { kind: 'answer', text: 'yes', finding: 'A did it.' }, usage: { ...noUsage, calls: 2 } });
    expect(run.dispatched()).toEqual(['0/x1']);
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D2', reasonCode: 'budget_model_calls' });
    expect(run.completed()!['answer']).toContain('A did it.');
  });

  it('answers an exact repeat from the ledger and drops a near one', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'founder of the observatory')]);
    run.found('r1', 'a fact');
    run.judged('needs_more_info', 'more');
    run.planned(1, [research('r1', 'Founder of the Observatory?'), research('r2', 'the founder of the observatory')]);
    expect(run.dispatched()).toEqual(['0/r1', '0/judge.gap', '1/judge.gap']);
    expect(run.state!.tasks['run_00000001/1/r1']!.result!.status).toBe('repeated');
  });

  it('asks an expert again when the evidence it builds on is new, and not when all of it is known', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'founder of the observatory'), expert('x1', 'answer the whole question from the evidence', ['r1'])]);
    run.found('r1', 'a fact');
    run.answered('x1', 'not sure');
    run.judged('needs_more_info', 'more');
    run.planned(1, [research('r1', 'birthplace'), expert('x1', 'answer the whole question from the evidence', ['r1'])]);
    run.found('r1', 'another fact');
    expect(run.dispatched().at(-1)).toBe('1/x1');
    run.answered('x1', 'sure');
    run.judged('needs_more_info', 'still more');
    run.planned(2, [research('r1', 'birthplace'), expert('x1', 'answer the whole question from the evidence', ['r1'])]);
    expect(run.state!.tasks['run_00000001/2/x1']!.result!.status).toBe('repeated');
  });

  it('allows a failed action once more, not twice', () => {
    const run = new Scenario({ max_agentic_rounds: 4 });
    run.requested();
    run.planned(0, [research('r1', 'alpha'), research('r2', 'beta')]);
    run.failed('r1');
    run.found('r2', 'a fact');
    run.judged('needs_more_info', 'more');
    run.planned(1, [research('r1', 'alpha')]);
    run.failed('r1');
    run.judged('needs_more_info', 'more');
    run.planned(2, [research('r1', 'alpha')]);
    expect(run.dispatched().filter((id) => id.endsWith('/r1'))).toEqual(['0/r1', '1/r1']);
  });

  it('writes the draft first in answer mode and sends the accepted draft without another call', () => {
    const run = new Scenario({ gap_check: 'answer' });
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'yes');
    run.composed('a draft');
    expect(run.dispatched()).toEqual(['0/x1', '0/judge.synthesis', '0/judge.gap']);
    run.judged('complete');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D3', answer: 'a draft' });
  });

  it('streams the last possible pass directly in answer mode', () => {
    const run = new Scenario({ gap_check: 'answer', max_agentic_rounds: 1 });
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'yes');
    run.composed('a draft');
    run.judged('needs_more_info', 'more');
    run.planned(1, [research('r1', 'something new')]);
    run.found('r1', 'new fact');
    const last = run.outputs.at(-1)!.data as { capability: string; stream: string };
    expect(last).toMatchObject({ capability: 'judge.synthesis', stream: 'live' });
  });

  it('rejects a plan that names an unknown capability before anything runs', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [{ ...expert('x1', 'rm'), capability: 'shell' }]);
    expect(run.dispatched()).toEqual(['0/fallback']);
  });

  it('ends failed with the reason when an engine record of the run is a dead letter', () => {
    const run = new Scenario();
    run.requested();
    run.abort('merger record 12 failed five times');
    expect(run.completed()).toMatchObject({ outcome: 'failed', rule: null, failure: { code: 'RECORD_DEAD' } });
  });

  it('uses the general task if the first planner reports that it failed', () => {
    const run = new Scenario();
    run.requested();
    run.planFailed(0);
    expect(run.dispatched()).toEqual(['0/fallback']);
  });

  it('never has more tasks open than the limit allows', () => {
    const run = new Scenario();
    run.requested({ concurrent_tasks: 2 });
    run.planned(0, [research('r1', 'one'), research('r2', 'two'), research('r3', 'three')]);
    expect(run.dispatched()).toEqual(['0/r1', '0/r2']);
    run.found('r1', 'x');
    expect(run.dispatched()).toEqual(['0/r1', '0/r2', '0/r3']);
  });
});
