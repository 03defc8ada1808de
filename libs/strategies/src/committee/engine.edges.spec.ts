import { describe, expect, it } from '@jest/globals';
import { CommandIssued, commandId, makeEvent, noUsage, type GapDetected } from '@conclave/contracts';
import { step } from '@conclave/loop';
import { describeRun } from '../describe-run.js';
import { strategyOf } from '../registry.js';
import { expert, research, runId, Scenario } from '../testing/scenario.js';

const dispatches = (run: Scenario) =>
  run.outputs.filter((event) => event.type === 'TaskDispatched').map((event) => event.data as Record<string, never>);
const answerOf = (finding: string, refer: string[] = []) => ({
  output: { kind: 'answer' as const, text: finding, finding },
  confidence: 0.9,
  refer,
});

describe('cancelling', () => {
  /** A run in which a worker found the cancel flag while another task is open. */
  const flagged = () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'q'), research('r2', 'something else'), research('r3', 'one more')]);
    run.found('r2', 'a fact');
    run.result('r1', { status: 'cancelled', failure: { code: 'CALL_CANCELLED', message: 'flagged', retriable: false } });
    expect(run.completed()).toBeUndefined();
    return run;
  };

  it('ends a run as cancelled if a worker finds its flag although no command ever arrived', () => {
    const run = flagged();
    expect(run.state!.due.at! - run.state!.flaggedAt!).toBe(5_000);
    run.fired();
    expect(run.completed()).toMatchObject({ outcome: 'cancelled', rule: 'D1', answer: null });
  });

  it('acknowledges a cancel command that a worker with its flag has overtaken', () => {
    const run = flagged();
    expect(run.command(4, { name: 'cancel', reason: 'enough' })!.entries.slice(0, 2)).toEqual([
      expect.objectContaining({ kind: 'command.accepted', seq: 4 }),
      expect.objectContaining({ kind: 'command.applied', seq: 4 }),
    ]);
    expect(run.completed()).toMatchObject({ outcome: 'cancelled', rule: 'D1', reason: expect.stringContaining('enough') });
  });

  it('does nothing else for a run whose flag was found', () => {
    const run = flagged();
    const before = run.outputs.length;
    run.found('r3', 'another fact');
    expect(run.outputs.slice(before).map(({ type }) => type)).toEqual([]);
  });

  it('does not mistake the cancelled result of a task that the engine gave up for a cancel of the run', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'q'), research('r2', 'something else')]);
    run.fired();
    run.result('r1', { status: 'cancelled' }, 0);
    expect(run.completed()).toBeUndefined();
  });

  it('rejects a command that it does not accept, with a reason, and continues', () => {
    const run = new Scenario();
    run.requested();
    expect(run.command(1, { name: 'override_step', skill: 'research', input: 'Look elsewhere.' })!.entries).toEqual([
      expect.objectContaining({ kind: 'command.accepted', seq: 1, name: 'override_step' }),
      { kind: 'command.rejected', seq: 1, name: 'override_step', reason: expect.stringContaining('does not take this command') },
    ]);
    expect(run.state!.awaiting).not.toBeNull();
  });
});

describe('a pause', () => {
  it('lets work in progress end and begins nothing new, and its time does not count', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'q'), expert('x1', 'answer', ['r1'])]);
    run.command(1, { name: 'pause' });
    run.found('r1', 'A fact.');
    expect(run.dispatched()).toEqual(['0/r1']);
    run.now += 600_000;
    run.command(2, { name: 'resume' });
    expect(run.dispatched()).toEqual(['0/r1', '0/x1']);
    run.answered('x1', 'yes');
    run.judged('complete');
    run.composed('yes');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D3' });
  });

  it('is not undone by an older command that arrives later', () => {
    const run = new Scenario();
    run.requested();
    run.command(3, { name: 'pause' });
    expect(run.command(2, { name: 'resume' })!.entries).toMatchObject([
      { kind: 'command.accepted' },
      { kind: 'command.rejected', reason: expect.stringContaining('overtaken') },
    ]);
    expect(run.state!.paused).not.toBeNull();
  });

  it('settles overdue tasks although the budget is spent: the same timer would fire again at once', () => {
    const run = new Scenario();
    run.requested({ model_calls: 5 });
    run.planned(0, [research('r1', 'q'), research('r2', 'other')]);
    run.command(1, { name: 'pause' });
    run.result('r1', { status: 'ok', output: { kind: 'evidence', facts: [] }, usage: { ...noUsage, calls: 9 } });
    expect(run.fired({ started: false })!.facts).toMatchObject([{ kind: 'TaskSettled' }]);
    expect(run.state!.due.at).toBeGreaterThan(run.now);
  });

  it('that nobody ends is ended by the clock, with what is known', () => {
    const run = new Scenario({ pause_timeout_s: 7_200 });
    const begun = run.now;
    run.requested();
    run.planned(0, [research('r1', 'q')]);
    run.found('r1', 'A fact.');
    run.command(1, { name: 'pause' });
    for (let ticks = 0; ticks < 9 && !run.completed(); ticks += 1) run.fired({ started: true });
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', reasonCode: 'paused_too_long' });
    expect(run.completed()!['answer']).toContain('A fact.');
    expect(run.now - begun).toBe(7_200_000);
  });
});

describe('a dead letter of an engine record', () => {
  const abort = (at: number) =>
    makeEvent(
      CommandIssued,
      { id: commandId(runId, 1), runId, source: 'transport', time: at },
      { seq: 1, actor: 'transport', issuedAt: at, command: { name: 'abort', reason: 'PlanRequested could not be handled' } },
    );
  const none = (): never => {
    throw new Error('no such strategy');
  };

  it('ends a run that was accepted and never begun, whatever strategy it names', () => {
    const request = new Scenario({ strategy: 'waves' }).request();
    const decision = step(null, abort(5), 5, none, request)!;
    expect(decision.next.endedAt).toBe(5);
    expect(decision.outputs).toMatchObject([{ type: 'RunCompleted', data: { outcome: 'failed', failure: { code: 'RECORD_DEAD' } } }]);
  });
});

describe('the usage of a run', () => {
  it('counts a planner that answers while the run is already being written', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'maybe');
    run.judged('needs_more_info', 'proof');
    run.fired();
    const before = run.state!.spent.calls;
    run.planned(1, [expert('x2', 'late')]);
    expect(run.state!.spent.calls).toBe(before + 1);
    run.composed('maybe');
    expect(run.completed()).toMatchObject({ usage: { calls: before + 2 } });
  });

  it('is reported together with the calls that are in flight when the run ends: dispatched tasks without an answer, and an awaited plan', () => {
    const planning = new Scenario();
    planning.requested();
    planning.cancel();
    expect(planning.completed()).toMatchObject({ openCalls: 1 });

    const collecting = new Scenario();
    collecting.requested({ concurrent_tasks: 2 });
    collecting.planned(0, [research('r1', 'a'), expert('x1', 'b'), expert('x2', 'c'), expert('x3', 'd')]);
    collecting.found('r1', 'A did.');
    expect(collecting.dispatched()).toEqual(['0/r1', '0/x1', '0/x2']);
    collecting.cancel();
    expect(collecting.completed()).toMatchObject({ openCalls: 2 });
    expect(describeRun(collecting.state, strategyOf)).toMatchObject({
      terminal: true,
      usage: { total: { calls: 1 }, openCalls: 2, recorded: null },
    });
  });

  it('includes a call that was given up and answered late, which is no longer in flight', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'answer'), expert('x2', 'slow'), expert('x3', 'slower')]);
    run.answered('x1', 'yes');
    run.now += 256_000;
    run.fired();
    run.result('x2', { status: 'cancelled', usage: { ...noUsage, calls: 1 }, attempt: 1 });
    run.composed('yes');
    expect(run.completed()).toMatchObject({ usage: { calls: 4 }, openCalls: 1 });
  });

  it('contains no open calls if all of them have ended', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'yes');
    run.judged('complete');
    run.composed('yes');
    expect(run.completed()).toMatchObject({ outcome: 'completed', openCalls: 0 });
  });
});

describe('a plan', () => {
  it('pays two equal tasks of one plan once, and what waits for the second waits for the first', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'Who founded it?'), research('r2', 'who founded it'), expert('x1', 'answer', ['r2'])]);
    expect(run.dispatched()).toEqual(['0/r1']);
    run.found('r1', 'A did.');
    expect(run.dispatched()).toEqual(['0/r1', '0/x1']);
    expect(run.state!.tasks[`${runId}/0/x1`]!.spec.needs).toEqual(['r1']);
  });

  it('adds the category an expert referred to in the next round, with the evidence of that round', () => {
    const run = new Scenario({
      experts: { general: { t1: ['m@fake'], prompt: '' }, science: { t1: ['m@fake'], prompt: '' } },
    });
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.result('x1', answerOf('Ask a scientist.', ['science', 'astrology', 'general']));
    run.judged('needs_more_info', 'the physics');
    run.planned(1, [research('r1', 'physics of it')]);
    run.found('r1', 'a law');
    expect(run.dispatched().at(-1)).toBe('1/refer-science');
    expect(run.state!.tasks[`${runId}/1/refer-science`]!.spec).toMatchObject({ capability: 'expert.science', needs: ['r1'] });
  });

  it('adds two categories whose long names only differ at their end', () => {
    const long = ['mechanical_engineering_standards_eu', 'mechanical_engineering_standards_us'];
    const asks = { t1: ['m@fake'], prompt: '' };
    const run = new Scenario({ experts: { general: asks, [long[0]!]: asks, [long[1]!]: asks } });
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.result('x1', answerOf('Ask two engineers.', long));
    run.judged('needs_more_info', 'the standards');
    run.planned(1, [research('r1', 'standards')]);
    run.found('r1', 'a standard');
    expect(
      Object.values(run.state!.tasks)
        .map(({ spec }) => spec.capability)
        .slice(-2),
    ).toEqual(long.map((category) => `expert.${category}`));
  });

  it('adds no category that the plan asks anyway', () => {
    const run = new Scenario({
      experts: { general: { t1: ['m@fake'], prompt: '' }, science: { t1: ['m@fake'], prompt: '' } },
    });
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.result('x1', answerOf('Ask a scientist.', ['science']));
    run.judged('needs_more_info', 'the physics');
    run.planned(1, [{ ...expert('s1', 'explain the physics'), capability: 'expert.science' }]);
    expect(run.dispatched().filter((id) => id.startsWith('1/'))).toEqual(['1/s1']);
  });
});

describe('budgets', () => {
  it('start nothing more of a round once the reserve is reached and something is known', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'q'), expert('x1', 'one', ['r1']), expert('x2', 'two of them', ['r1'])]);
    run.result('r1', {
      output: {
        kind: 'evidence',
        facts: [{ text: 'f', source: { kind: 'corpus', title: 'd', url: null }, taskId: 't', epoch: 0, confidence: null }],
      },
      usage: { ...noUsage, calls: 1, prompt: 80_100 },
    });
    expect(run.dispatched()).toEqual(['0/r1', '0/judge.synthesis']);
    run.composed('f [1]');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D2' });
  });

  it('of wall time begin the answer at 85 % although another budget is in its reserve too, and the timer does not fire again at once', () => {
    const run = new Scenario({ task_timeout_s: 400 });
    run.requested({ model_calls: 10 });
    run.planned(0, [expert('x1', 'answer'), expert('x2', 'slow')]);
    run.result('x1', { ...answerOf('yes'), usage: { ...noUsage, calls: 8 } });
    run.fired({ started: true });
    run.fired();
    expect(run.now).toBe(1_255_000);
    expect(run.state!.due.at).toBeGreaterThan(run.now);
    run.composed('yes');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D2', reasonCode: 'budget_wall_time_s' });
  });

  it('tell the planner of a re-plan what is left of the cost, if it is limited', () => {
    const gapsOf = (limits: { cost?: number }) => {
      const run = new Scenario();
      run.requested(limits);
      run.planned(0, [expert('x1', 'answer')], { ...noUsage, calls: 1, cost: 0.25 });
      run.result('x1', { ...answerOf('yes'), usage: { ...noUsage, calls: 1, cost: 0.25 } });
      run.judged('needs_more_info', 'proof');
      return run.outputs.filter((event): event is GapDetected => event.type === 'GapDetected').map(({ data }) => data.left.cost);
    };
    expect([gapsOf({ cost: 1 }), gapsOf({})]).toEqual([[0.5], [undefined]]);
  });

  it('serve the first listed tasks if they do not last for all', () => {
    const run = new Scenario();
    run.requested({ model_calls: 4 });
    run.planned(0, [expert('x1', 'one'), expert('x2', 'two of it'), expert('x3', 'all three'), expert('x4', 'the fourth')]);
    expect(run.dispatched()).toEqual(['0/x1', '0/x2']);
  });

  it('report that a reserve was reached before they report that a budget is used up', () => {
    const run = new Scenario();
    run.requested({ model_calls: 10 });
    run.planned(0, [expert('x1', 'answer')]);
    run.result('x1', { ...answerOf('yes'), usage: { ...noUsage, calls: 8 } });
    run.composed('yes');
    expect(run.completed()!['reason']).toContain('model calls is nearly used up: 9 of 10');
  });

  it('reserve for a task at least what its own input needs', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'w'.repeat(150_000))]);
    expect((dispatches(run)[0] as unknown as { allowance: { tokens: number } }).allowance.tokens).toBeGreaterThan(45_000);
  });

  it('name the composer as the reason if the time ran out while an accepted answer was written', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'A did it.');
    run.judged('complete');
    run.now += 301_000;
    run.fired();
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D3', reasonCode: 'composer_failed' });
    expect(run.completed()!['reason']).toContain('wall time');
  });
});

describe('the ledger', () => {
  it('keeps an answer without letters', () => {
    const run = new Scenario({ max_agentic_rounds: 0 });
    run.requested();
    run.planned(0, [expert('x1', 'answer with one sign')]);
    run.answered('x1', '👍');
    run.composed('👍');
    expect(run.completed()).toMatchObject({ outcome: 'completed', answer: '👍' });
  });
});

describe('a call of a tool that failed', () => {
  it('is remembered with its error, for the next plan; a search is not', () => {
    const run = new Scenario({ capabilities: ['research', 'mcp'], tools: [{ name: 'dates.days', signature: '', description: '' }] });
    run.requested();
    const call = { ...research('t1', 'q'), capability: 'mcp', tool: 'dates.days', query: null, args: { from: 'x' } };
    run.planned(0, [call, research('r1', 'something else')]);
    const failure = { code: 'TOOL_FAILED', message: 'Give "from" and "to".', retriable: false };
    run.result('t1', { status: 'error', failure });
    run.result('r1', { status: 'error', failure: { ...failure, code: 'SEARCH_UNAVAILABLE' } });
    expect(run.state!.memory.tried).toMatchObject([
      { capability: 'mcp', outcome: 'failed', error: 'Give "from" and "to".' },
      { capability: 'research', outcome: 'failed' },
    ]);
    expect(run.state!.memory.tried[1]).not.toHaveProperty('error');
  });
});
