import { describe, expect, it } from '@jest/globals';
import { CommandIssued, commandId, makeEvent, noUsage } from '@conclave/contracts';
import { decideRow, type Situation } from './decision-table.js';
import { describeRun } from './describe-run.js';
import { evolve } from './evolve.js';
import { step } from './engine.js';
import { expert, research, runId, Scenario } from './testing/scenario.js';

const dispatches = (run: Scenario) =>
  run.outputs.filter((event) => event.type === 'TaskDispatched').map((event) => event.data as Record<string, never>);
const answerOf = (finding: string, refer: string[] = []) => ({
  output: { kind: 'answer' as const, text: finding, finding },
  confidence: 0.9,
  refer,
});

describe('cancelling', () => {
  it('ends a run as cancelled when a worker finds its flag although no command ever came', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'q'), research('r2', 'something else')]);
    run.found('r2', 'a fact');
    run.result('r1', { status: 'cancelled', failure: { code: 'CALL_CANCELLED', message: 'flagged', retriable: false } });
    expect(run.completed()).toMatchObject({ outcome: 'cancelled', rule: 'D1', answer: null });
  });

  it('takes no cancelled result of a task for a cancel of the run that the engine had given up itself', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [research('r1', 'q'), research('r2', 'something else')]);
    run.fired(`task:${runId}/0/r1`, { started: true, liveWorkers: 1 });
    run.result('r1', { status: 'cancelled' });
    expect(run.completed()).toBeUndefined();
  });

  it.each(['pause', 'resume'] as const)('rejects %s with a reason and goes on', (name) => {
    const run = new Scenario();
    run.requested();
    const command = makeEvent(
      CommandIssued,
      { id: commandId(runId, 1), runId, source: 'gateway', time: run.now },
      { seq: 1, actor: 'me', issuedAt: run.now, command: { name } },
    );
    expect(run.feed(command)!.entries).toEqual([
      { kind: 'command.rejected', seq: 1, name, reason: expect.stringContaining('does not take this command') },
    ]);
    expect(run.state!.phase).toBe('planning');
  });
});

describe('an engine record that is a dead letter', () => {
  const abort = (at: number) =>
    makeEvent(
      CommandIssued,
      { id: commandId(runId, 1), runId, source: 'transport', time: at },
      { seq: 1, actor: 'transport', issuedAt: at, command: { name: 'abort', reason: 'PlanRequested could not be handled' } },
    );
  const accepted = (strategy: 'agentic' | 'waves') => {
    const run = new Scenario({ strategy });
    let header: Parameters<Scenario['feed']>[0] | null = null;
    const feed = run.feed.bind(run);
    run.feed = (event) => ((header = event), null);
    run.requested();
    run.feed = feed;
    return evolve(null, header!);
  };
  const none = (): never => {
    throw new Error('no such strategy');
  };

  it('ends a run that was accepted and never begun, whatever strategy it names', () => {
    const decision = step(accepted('waves'), abort(5), 5, none)!;
    expect(decision.next.phase).toBe('done');
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
    run.fired('planning');
    const before = run.state!.spent.calls;
    run.planned(1, [expert('x2', 'late')]);
    expect(run.state!.spent.calls).toBe(before + 1);
    run.composed('maybe');
    expect(run.completed()).toMatchObject({ usage: { calls: before + 2 } });
  });

  it('is told together with the calls that are in flight when the run ends: dispatched tasks without an answer, and an awaited plan', () => {
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
    expect(describeRun(collecting.state)).toMatchObject({ terminal: true, usage: { total: { calls: 1 }, openCalls: 2, recorded: null } });
  });

  it('holds a call that was given up and answered late, which is in flight no more', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'answer'), expert('x2', 'slow'), expert('x3', 'slower')]);
    run.answered('x1', 'yes');
    run.fired('wall.reserve');
    run.result('x2', { status: 'cancelled', usage: { ...noUsage, calls: 1 }, attempt: 1 });
    run.composed('yes');
    expect(run.completed()).toMatchObject({ usage: { calls: 4 }, openCalls: 1 });
  });

  it('has no open calls beside it where all of them have ended', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'yes');
    run.judged('complete');
    run.composed('yes');
    expect(run.completed()).toMatchObject({ outcome: 'completed', openCalls: 0 });
    expect(run.state).not.toHaveProperty('openCalls');
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

  it('say that a reserve was reached before they say that a budget is used up', () => {
    const run = new Scenario();
    run.requested({ model_calls: 10 });
    run.planned(0, [expert('x1', 'answer')]);
    run.result('x1', { ...answerOf('yes'), usage: { ...noUsage, calls: 8 } });
    run.composed('yes');
    expect(run.completed()!['reason']).toContain('model calls is nearly used up: 9 of 10');
  });

  it('reserve for a task what its own input needs at least', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'w'.repeat(150_000))]);
    expect((dispatches(run)[0] as unknown as { allowance: { tokens: number } }).allowance.tokens).toBeGreaterThan(45_000);
  });

  it('name the composer as the reason when the time ran out while an accepted answer was written', () => {
    const run = new Scenario();
    run.requested();
    run.planned(0, [expert('x1', 'answer')]);
    run.answered('x1', 'A did it.');
    run.judged('complete');
    run.now += 301_000;
    run.fired('wall');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D3', reasonCode: 'composer_failed' });
    expect(run.completed()!['reason']).toContain('wall time');
  });
});

describe('the ledger', () => {
  it('keeps an answer that has no letter in it', () => {
    const run = new Scenario({ max_agentic_rounds: 0 });
    run.requested();
    run.planned(0, [expert('x1', 'answer with one sign')]);
    run.answered('x1', '👍');
    run.composed('👍');
    expect(run.completed()).toMatchObject({ outcome: 'completed', answer: '👍' });
  });
});

describe('a decision', () => {
  it('says that the run goes in circles where it does, not how many rounds were empty', () => {
    const situation: Situation = {
      cancelled: null,
      budget: { level: 'free', name: 'model_calls', used: 1, limit: 60 },
      sufficient: false,
      unread: null,
      failedRounds: 0,
      stuckThreshold: 3,
      heldTasksLeft: false,
      lastRoundClean: true,
      rounds: 2,
      maxRounds: 4,
      assesses: true,
      roundsWithoutFacts: 0,
      stallLimit: 2,
      circling: true,
      replansLeft: 2,
      gap: 'more',
      onlyUserCanFill: false,
    };
    expect(decideRow(situation)).toMatchObject({ rule: 'D7', sentence: expect.stringContaining('over and over') });
    expect(decideRow({ ...situation, replansLeft: 0 })).toMatchObject({ rule: 'D8', move: { outcome: 'stalled' } });
  });
});
