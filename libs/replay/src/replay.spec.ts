import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  canonicalJson,
  recordedFacts,
  type StepResult,
  type EngineInput,
  type HashedStep,
  type RecordedStep,
  type RunState,
  type Strategy,
} from '@conclave/loop';
import { strategyOf } from '@conclave/strategies';
import { expert, research, runId, Scenario } from '@conclave/strategies/loop-suite';
import { Replay, replay, type ReplayOptions } from './replay.js';

const sha = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 32);
const stateHash = (state: RunState): string => sha(state);
const chainHash = (before: string, { input, now, facts }: HashedStep): string => sha([before, input.id, now, input.data, facts]);
const under = (strategy: Strategy): ReplayOptions => ({ strategyOf: () => strategy, stateHash, chainHash });
const committee: Strategy = strategyOf('agentic');

/** A scenario that records its steps as in the audit topic. */
class Recording extends Scenario {
  readonly steps: RecordedStep[] = [];

  override feed(event: EngineInput): StepResult | null {
    const before = this.state?.hash ?? '';
    const decision = super.feed(event);
    if (decision) {
      const facts = recordedFacts(decision.facts, { input: event });
      const input = { id: event.id, type: event.type, time: event.time, data: event.data };
      const hash = chainHash(before, { input, now: this.now, facts });
      this.state = { ...this.state!, hash };
      const decided = decision.facts.findLast((fact) => fact.kind === 'Decided');
      const step: RecordedStep = {
        version: this.steps.length + 1,
        input,
        now: this.now,
        facts,
        rule: decided?.rule ?? null,
        ruleSentence: decided?.sentence ?? null,
        outputs: decision.outputs.map(({ id, type }) => ({ id, type })),
        hash,
        stateHash: decision.next.endedAt === null ? null : stateHash({ ...decision.next, hash }),
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
  run.fired({}, 1);
  run.found('r1', 'A was born in B.');
  run.judged('complete');
  run.composed('B [1]');
  return run;
}
const withStep = (steps: readonly RecordedStep[], version: number, changes: Partial<RecordedStep>): RecordedStep[] =>
  steps.map((step) => (step.version === version ? { ...step, ...changes } : step));

describe('a replay of recorded steps', () => {
  it('reaches the same decisions and the same state, as often as it is repeated', () => {
    const { steps } = twoHop();
    expect(steps).toHaveLength(9);
    const once = replay(runId, steps, under(committee));
    expect(once).toEqual({ kind: 'same', steps: 9, ended: true });
    expect(replay(runId, steps, under(committee))).toEqual(once);
  });

  it('reports what each step decides, once and in the order of the versions', () => {
    const { steps } = twoHop();
    const told: (readonly [number, readonly string[]])[] = [];
    const onStep = (version: number, { outputs }: StepResult): void => void told.push([version, outputs.map(({ id }) => id)]);
    replay(runId, [...steps].reverse().concat(steps), { ...under(committee), onStep });
    expect(told).toEqual(steps.map(({ version, outputs }) => [version, outputs.map(({ id }) => id)]));
  });

  it('takes steps in the order of their version, in whatever order and however often they arrive', () => {
    const { steps } = twoHop();
    const shuffled = [...steps.slice(4).reverse(), ...steps.slice(0, 4), ...steps];
    expect(replay(runId, shuffled, under(committee))).toEqual({ kind: 'same', steps: 9, ended: true });
  });

  it('says of a run under way that it has not ended', () => {
    const { steps } = twoHop();
    expect(replay(runId, steps.slice(0, 4), under(committee))).toEqual({ kind: 'same', steps: 4, ended: false });
    expect(replay(runId, [], under(committee))).toEqual({ kind: 'same', steps: 0, ended: false });
  });
});

describe('a replay under changed code', () => {
  it('finds the first step at which another decision rule applies', () => {
    const { steps } = twoHop();
    const easier: Strategy = { ...committee, limits: (view) => ({ ...committee.limits(view), rounds: 1 }) };
    const result = replay(runId, steps, under(easier));
    expect(result).toMatchObject({
      kind: 'different',
      steps: 0,
      version: 1,
      input: { type: 'PlanRequested', id: runId },
      differs: ['facts', 'hash'],
      recorded: { fact: expect.stringContaining('"maxRounds":4') },
      now: { fact: expect.stringContaining('"maxRounds":1') },
    });
    const blind: Strategy = {
      ...committee,
      onResult: () => [],
      next: (view) => (view.run.round ? [{ do: 'decide', reading: { by: 'rounds' } }] : committee.next(view)),
    };
    expect(replay(runId, steps, under(blind))).toMatchObject({
      version: 4,
      differs: ['facts', 'outputs', 'hash'],
      recorded: { fact: expect.stringContaining('judge.gap'), outputs: [{ id: `${runId}/0/judge.gap` }] },
      now: { fact: expect.stringContaining('A round of plan 0 is closed') },
    });
    expect(replay(runId, steps, under(easier))).toEqual(result);
  });

  it('finds a changed fact, output, hash, time and state separately', () => {
    const { steps } = twoHop();
    const found = (changes: Partial<RecordedStep>, version = 5) => replay(runId, withStep(steps, version, changes), under(committee));
    const facts = steps[4]!.facts.slice(1);
    expect(found({ facts })).toMatchObject({ kind: 'different', version: 5, differs: ['facts'] });
    expect(found({ outputs: [] })).toMatchObject({ kind: 'different', version: 5, differs: ['outputs'] });
    expect(found({ hash: '0'.repeat(32) })).toMatchObject({ kind: 'different', version: 5, differs: ['hash'] });
    expect(found({ now: steps[4]!.now + 1 })).toMatchObject({ kind: 'different', version: 5 });
    expect(found({ stateHash: '0'.repeat(32) }, 9)).toMatchObject({ kind: 'different', version: 9, differs: ['state'] });
  });

  it('finds a step that is no longer taken', () => {
    const { steps } = twoHop();
    const again = { ...steps[8]!, version: 10 };
    expect(replay(runId, [...steps, again], under(committee))).toMatchObject({ kind: 'different', version: 10, now: null });
  });

  it("says why today's code cannot take an input", () => {
    const { steps } = twoHop();
    const input = steps[1]!.input;
    const refused = (changed: RecordedStep['input']) => replay(runId, withStep(steps, 2, { input: changed }), under(committee));
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
    const broken: ReplayOptions = {
      ...under(committee),
      strategyOf: (id) => {
        throw new Error(`no strategy ${id}`);
      },
    };
    expect(replay(runId, steps, broken)).toMatchObject({ kind: 'refused', version: 1, sentence: 'no strategy agentic' });
  });
});

describe('a recording with faults', () => {
  it('lists the missing steps', () => {
    const { steps } = twoHop();
    const without = (...versions: number[]) => steps.filter(({ version }) => !versions.includes(version));
    expect(replay(runId, without(3), under(committee))).toEqual({ kind: 'missing', steps: 2, version: 3, gaps: [[3, 3]] });
    expect(replay(runId, without(1, 2, 6), under(committee))).toEqual({
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
    const steps = withStep(twoHop().steps, 2, { outputs: [] }).filter(({ version }) => version !== 5);
    expect(replay(runId, steps, under(committee))).toMatchObject({ kind: 'different', version: 2 });
  });

  it('does not choose between two records of one step that contradict each other', () => {
    const { steps } = twoHop();
    const other: RecordedStep = { ...steps[2]!, hash: 'f'.repeat(32) };
    for (const order of [
      [...steps, other],
      [other, ...steps],
      [...steps.slice(0, 3), other, ...steps.slice(3)],
      [steps[2]!, other, ...steps],
    ])
      expect(replay(runId, order, under(committee))).toEqual({ kind: 'conflicting', steps: 2, version: 3 });
  });

  it('says at any time what is true so far', () => {
    const { steps } = twoHop();
    const run = new Replay(runId, under(committee));
    run.take(steps[0]!);
    expect(run.result()).toMatchObject({ kind: 'same', steps: 1 });
    run.take(steps[2]!);
    expect(run.result()).toMatchObject({ kind: 'missing', gaps: [[2, 2]] });
    run.take(steps[1]!);
    expect(run.result()).toMatchObject({ kind: 'same', steps: 3 });
  });
});
