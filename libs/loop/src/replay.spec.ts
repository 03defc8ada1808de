import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Decision } from './moves.js';
import type { EngineInput } from './evolve.js';
import { Replay, replay, type RecordedStep, type ReplayOptions } from './replay.js';
import type { RunState } from './state.js';
import type { Strategy } from './strategy.js';
import { expert, plainStrategy, research, runId, Scenario } from './testing/scenario.js';

const stateHash = (state: RunState): string => createHash('sha256').update(JSON.stringify(state)).digest('hex').slice(0, 32);
const under = (strategy: Strategy): ReplayOptions => ({ strategyOf: () => strategy, stateHash });

/** A scenario that writes down its steps as the audit topic holds them. */
class Recording extends Scenario {
  readonly steps: RecordedStep[] = [];

  override feed(event: EngineInput): Decision | null {
    const decision = super.feed(event);
    if (decision) {
      const step: RecordedStep = {
        version: this.steps.length + 1,
        input: { id: event.id, type: event.type, time: event.time, data: event.data },
        now: this.now,
        rule: decision.rule?.id ?? null,
        ruleSentence: decision.rule?.sentence ?? null,
        outputs: decision.outputs.map(({ id, type }) => ({ id, type })),
        stateHash: stateHash(decision.next),
      };
      this.steps.push(JSON.parse(JSON.stringify(step)) as RecordedStep);
    }
    this.now += 100;
    return decision;
  }
}

/** Plan, evidence, expert, gap, re-plan, synthesis. */
function twoHop(): Recording {
  const run = new Recording();
  run.requested();
  run.planned(0, [research('r1', 'who founded it'), expert('x1', 'answer it', ['r1'])]);
  run.found('r1', 'It was founded by A.');
  run.answered('x1', 'A founded it.');
  run.judged('needs_more_info', 'where A was born');
  run.planned(1, [research('r1', 'birthplace of A')]);
  run.fired('planning', null, 1);
  run.found('r1', 'A was born in B.');
  run.judged('complete');
  run.composed('B [1]');
  return run;
}
const withStep = (steps: readonly RecordedStep[], version: number, changes: Partial<RecordedStep>): RecordedStep[] =>
  steps.map((step) => (step.version === version ? { ...step, ...changes } : step));

describe('a replay of recorded steps', () => {
  it('reaches the same decisions and the same state, as often as it is done', () => {
    const { steps } = twoHop();
    expect(steps).toHaveLength(9);
    const once = replay(runId, steps, under(plainStrategy));
    expect(once).toEqual({ kind: 'same', steps: 9, ended: true });
    expect(replay(runId, steps, under(plainStrategy))).toEqual(once);
  });

  it('tells what each step decides, once and in the order of the versions', () => {
    const { steps } = twoHop();
    const told: (readonly [number, readonly string[]])[] = [];
    const onStep = (version: number, { outputs }: Decision): void => void told.push([version, outputs.map(({ id }) => id)]);
    replay(runId, [...steps].reverse().concat(steps), { ...under(plainStrategy), onStep });
    expect(told).toEqual(steps.map(({ version, outputs }) => [version, outputs.map(({ id }) => id)]));
  });

  it('takes steps in the order of their version, whatever order they come in and however often', () => {
    const { steps } = twoHop();
    const shuffled = [...steps.slice(4).reverse(), ...steps.slice(0, 4), ...steps];
    expect(replay(runId, shuffled, under(plainStrategy))).toEqual({ kind: 'same', steps: 9, ended: true });
  });

  it('says of a run that goes on that it has not ended', () => {
    const { steps } = twoHop();
    expect(replay(runId, steps.slice(0, 4), under(plainStrategy))).toEqual({ kind: 'same', steps: 4, ended: false });
    expect(replay(runId, [], under(plainStrategy))).toEqual({ kind: 'same', steps: 0, ended: false });
  });

  it('repeats an abort of a run whose request had never been applied', () => {
    const request = twoHop().steps[0]!.input;
    const aborted = new Recording();
    aborted.requested();
    aborted.abort('it killed its process');
    // An engine that never took the request evolves it inside the step of the abort.
    const abort: RecordedStep = { ...aborted.steps[1]!, version: 1, request };
    const result = replay(runId, [abort], under(plainStrategy));
    expect(result).toMatchObject({ kind: 'different', version: 1, differs: ['state'], now: { outputs: [{ id: `${runId}/completed` }] } });
    const hash = result.kind === 'different' ? result.now!.stateHash : '';
    expect(replay(runId, [{ ...abort, stateHash: hash }], under(plainStrategy))).toEqual({ kind: 'same', steps: 1, ended: true });
  });
});

describe('a replay under changed code', () => {
  it('finds the first step that another decision rule is taken in', () => {
    const { steps } = twoHop();
    const easier: Strategy = { ...plainStrategy, maxRounds: () => 1 };
    const result = replay(runId, steps, under(easier));
    expect(result).toMatchObject({
      kind: 'different',
      steps: 3,
      version: 4,
      input: { type: 'ResultReady', id: `${runId}/0/x1/result` },
      differs: ['rule', 'outputs', 'state'],
      recorded: { rule: null, outputs: [{ type: 'TaskDispatched', id: `${runId}/0/judge.gap` }] },
      now: { rule: 'D6', outputs: [{ type: 'TaskDispatched', id: `${runId}/0/judge.synthesis` }] },
    });
    expect(replay(runId, steps, under(easier))).toEqual(result);
  });

  it('finds a changed rule, a changed output and a changed state each by itself', () => {
    const { steps } = twoHop();
    const found = (changes: Partial<RecordedStep>) => replay(runId, withStep(steps, 5, changes), under(plainStrategy));
    expect(found({ rule: 'D8' })).toMatchObject({ kind: 'different', version: 5, differs: ['rule'] });
    expect(found({ outputs: [] })).toMatchObject({ kind: 'different', version: 5, differs: ['outputs'] });
    expect(found({ stateHash: '0'.repeat(32) })).toMatchObject({ kind: 'different', version: 5, differs: ['state'] });
    expect(found({ now: steps[4]!.now + 1 })).toMatchObject({ kind: 'different', version: 5, differs: ['state'] });
  });

  it('finds a step that is not taken any more', () => {
    const { steps } = twoHop();
    const again = { ...steps[8]!, version: 10 };
    expect(replay(runId, [...steps, again], under(plainStrategy))).toMatchObject({ kind: 'different', version: 10, now: null });
  });

  it('says why today cannot take an input', () => {
    const { steps } = twoHop();
    const input = steps[1]!.input;
    const refused = (changed: RecordedStep['input']) => replay(runId, withStep(steps, 2, { input: changed }), under(plainStrategy));
    expect(refused({ ...input, type: 'PlanImagined' })).toMatchObject({
      kind: 'refused',
      version: 2,
      steps: 1,
      sentence: expect.stringMatching(/PlanImagined/),
    });
    expect(refused({ ...input, data: { epoch: 'first' } })).toMatchObject({
      kind: 'refused',
      sentence: expect.stringMatching(/PlanCreated.*epoch/),
    });
    const { time: _time, ...undated } = input;
    expect(refused(undated)).toMatchObject({ kind: 'refused', sentence: expect.stringMatching(/first version/) });
    const broken: ReplayOptions = {
      ...under(plainStrategy),
      strategyOf: (id) => {
        throw new Error(`no strategy ${id}`);
      },
    };
    expect(replay(runId, steps, broken)).toMatchObject({ kind: 'refused', version: 1, sentence: 'no strategy agentic' });
  });
});

describe('a recording with faults', () => {
  it('names the steps that are missing', () => {
    const { steps } = twoHop();
    const without = (...versions: number[]) => steps.filter(({ version }) => !versions.includes(version));
    expect(replay(runId, without(3), under(plainStrategy))).toEqual({ kind: 'missing', steps: 2, version: 3, gaps: [[3, 3]] });
    expect(replay(runId, without(1, 2, 6), under(plainStrategy))).toEqual({
      kind: 'missing',
      steps: 0,
      version: 1,
      gaps: [
        [1, 2],
        [6, 6],
      ],
    });
  });

  it('reports a difference before a missing step first', () => {
    const steps = withStep(twoHop().steps, 2, { rule: 'D8' }).filter(({ version }) => version !== 5);
    expect(replay(runId, steps, under(plainStrategy))).toMatchObject({ kind: 'different', version: 2 });
  });

  it('does not choose between two records of one step that contradict each other', () => {
    const { steps } = twoHop();
    const other: RecordedStep = { ...steps[2]!, stateHash: 'f'.repeat(32) };
    for (const order of [
      [...steps, other],
      [other, ...steps],
      [...steps.slice(0, 3), other, ...steps.slice(3)],
      [steps[2]!, other, ...steps],
    ])
      expect(replay(runId, order, under(plainStrategy))).toEqual({ kind: 'conflicting', steps: 2, version: 3 });
  });

  it('says at any time what holds so far', () => {
    const { steps } = twoHop();
    const run = new Replay(runId, under(plainStrategy));
    run.take(steps[0]!);
    expect(run.result()).toMatchObject({ kind: 'same', steps: 1 });
    run.take(steps[2]!);
    expect(run.result()).toMatchObject({ kind: 'missing', gaps: [[2, 2]] });
    run.take(steps[1]!);
    expect(run.result()).toMatchObject({ kind: 'same', steps: 3 });
  });
});
