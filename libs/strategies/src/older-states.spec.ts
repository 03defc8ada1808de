import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { CommandIssued, commandId, makeEvent, PlanRequested, TimerFired, timerId } from '@conclave/contracts';
import { completed, foldStored, overdueTasks, type RecordedStep, type RunState, step, type Strategies } from '@conclave/loop';
import { describeRun } from './describe-run.js';
import { strategyOf } from './registry.js';

interface Older {
  readonly name: string;
  readonly state: RunState;
  readonly steps?: readonly RecordedStep[];
}

/** States as versions of November 2026 stored them, with shortened texts. The steps follow the state. */
const older = readFileSync(new URL('./__fixtures__/older-states.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Older);
const named = (name: string): Older => structuredClone(older.find((one) => one.name === name)!);
const [ended, open] = [older.filter(({ state }) => state.endedAt !== null), older.filter(({ state }) => state.endedAt === null)];
const names = (some: readonly Older[]): string[] => some.map(({ name }) => name);

const timerOf = (runId: string, arm: number, now: number) =>
  makeEvent(
    TimerFired,
    { id: timerId(runId, arm), runId, source: 'merger', time: now },
    { runId, arm, dueAt: now, firedAt: now, tasks: [] },
  );
const commandOf = (runId: string, command: CommandIssued['data']['command'], now: number) =>
  makeEvent(
    CommandIssued,
    { id: commandId(runId, 99), runId, source: 'transport', time: now },
    { seq: 99, actor: 'transport', issuedAt: now, command },
  );
const abort = (runId: string, now: number) => commandOf(runId, { name: 'abort', reason: 'ResultReady x could not be handled' }, now);
const ragOpen = 'version 10, reflective-rag, open';
/** A shape that no completion repairs: the strategy reads lists where another version had numbers. */
const broken = (): RunState => {
  const { state } = named(ragOpen);
  return { ...state, own: { ...(state.own as object), safety: 1, passages: 7, tried: 3, documents: 5 } };
};
const stored = (state: RunState): RunState => JSON.parse(JSON.stringify(state)) as RunState;

describe('a state that an older version stored', () => {
  it.each(names(ended))('%s: is described with its end', (name) => {
    const { state } = named(name);
    expect(describeRun(state, strategyOf)).toMatchObject({
      ...{ id: state.runId, terminal: true, outcome: state.ending!.outcome, answer: state.answer?.text ?? null, commands: [] },
    });
  });

  it.each(names(open))('%s: is described, and takes the commands of its user', (name) => {
    const { state } = named(name);
    expect(describeRun(state, strategyOf)).toMatchObject({ id: state.runId, terminal: false, commands: [] });
    const cancelled = step(
      state,
      commandOf(state.runId, { name: 'cancel', reason: 'no longer needed' }, state.last + 1),
      state.last + 1,
      strategyOf,
    )!;
    expect(cancelled).toMatchObject({ status: 'cancelled', next: { commands: [{ name: 'cancel', status: 'applied' }] } });
    expect(cancelled.unusable).toBeUndefined();
  });

  it.each(names(open))('%s: ends by its timers without a word about another version', (name) => {
    let { state } = named(name);
    for (let fired = 0; state.endedAt === null && fired < 20; fired += 1) {
      const now = (state.due.at ?? state.last) + 1;
      const timer = timerOf(state.runId, state.due.arm, now);
      const tasks = overdueTasks(state, now).map(({ taskId }) => ({ taskId, started: false, liveWorkers: 0 }));
      state = stored(step(state, { ...timer, data: { ...timer.data, tasks } }, now, strategyOf)!.next);
    }
    expect(state.endedAt).not.toBeNull();
    expect(state.ending!.reasonCode).not.toBe('state_unusable');
  });

  it('gets what a new run begins with, also in the part of the strategy and in its tasks', () => {
    const { state } = named(ragOpen);
    expect(completed(state, strategyOf).own).toMatchObject({ safety: [], review: null, ...(state.own as object) });
    const [ref, task] = Object.entries(state.tasks)[0]!;
    const { lateUsage: _, result, ...before } = task;
    const { echoes: __, ...bare } = result!;
    const old = { ...state, tasks: { ...state.tasks, [ref]: { ...before, result: bare } } } as unknown as RunState;
    expect(completed(old, strategyOf).tasks[ref]).toMatchObject({ lateUsage: null, result: { echoes: [] } });
  });

  it('is the same object where nothing is missing', () => {
    const whole = stored(completed(named(ragOpen).state, strategyOf));
    expect(completed(whole, strategyOf)).toBe(whole);
  });

  it('is folded forward by the steps that the older version recorded after it', () => {
    const { state, steps } = named(ragOpen);
    const folded = steps!.reduce((run, recorded) => foldStored(run.runId, run, recorded, strategyOf), state);
    expect(folded.unusable).toBeUndefined();
    expect(folded).toMatchObject({ hash: steps!.at(-1)!.hash, own: { safety: expect.any(Array) } });
  });
});

describe('a stored state that cannot be used', () => {
  const sentence = 'The state of this run was stored by another version of Conclave and cannot be continued by this one: ask again.';

  it('ends the run when its timer fires, and can be read then', () => {
    const state = { ...broken(), commands: undefined } as unknown as RunState;
    const now = state.last + 10_000_000;
    const { next, outputs, unusable } = step(state, timerOf(state.runId, state.due.arm, now), now, strategyOf)!;
    expect(unusable).toBeInstanceOf(TypeError);
    expect(next.ending).toMatchObject({ outcome: 'failed', reason: sentence, reasonCode: 'state_unusable' });
    expect(outputs).toMatchObject([{ type: 'RunCompleted', data: { outcome: 'failed', usage: state.spent } }]);
    expect(describeRun(stored(next), strategyOf)).toMatchObject({ terminal: true, outcome: 'failed', failure: { message: sentence } });
    expect(describeRun(stored(next), strategyOf).rounds[0]!.tasks.length).toBeGreaterThan(0);
  });

  it('of this version is an error that is thrown, until the abort after its dead letter, which ends the run with that reason', () => {
    const state = stored(completed(broken(), strategyOf));
    const now = state.last + 10_000_000;
    expect(() => step(state, timerOf(state.runId, state.due.arm, now), now, strategyOf)).toThrow(TypeError);
    const { next } = step(state, abort(state.runId, now), now, strategyOf)!;
    expect(next.ending).toMatchObject({
      outcome: 'failed',
      reason: 'A record of this run is a dead letter: ResultReady x could not be handled',
    });
  });

  it('ends the run although not even its end can be added to it: only its request and cost are left', () => {
    const { state } = named(ragOpen);
    const damaged = { ...state, tasks: { a: 1 }, memory: { facts: 3 } } as unknown as RunState;
    const now = state.last + 1;
    const { next } = step(damaged, abort(state.runId, now), now, strategyOf)!;
    expect(next.ending!.reason).toMatch(
      /^A record of this run is a dead letter: ResultReady x could not be handled\. .* stored by another version/,
    );
    expect(next).toMatchObject({ ending: { outcome: 'failed' }, tasks: {}, spent: state.spent, request: { goal: state.request.goal } });
    const told: unknown[] = [];
    expect(describeRun(damaged, strategyOf, (run, error) => told.push(run, error))).toMatchObject({ id: state.runId, terminal: false });
    expect(told).toEqual([state.runId, expect.any(TypeError)]);
    expect(() => describeRun(damaged, strategyOf)).toThrow(TypeError);
  });

  it('ends the run by the next input if a recorded step can no longer be folded, and stays readable', () => {
    const { state, steps } = named(ragOpen);
    const strange = { ...steps![0]!, facts: [{ kind: 'OfAnotherVersion' }] } as unknown as RecordedStep;
    const run = [strange, ...steps!.slice(1)].reduce((before, recorded) => foldStored(before.runId, before, recorded, strategyOf), state);
    expect(run).toMatchObject({ unusable: expect.any(String), hash: steps!.at(-1)!.hash });
    expect(describeRun(run, strategyOf)).toMatchObject({ id: state.runId, terminal: false });
    // The number of its timer is not known.
    const { next } = step(run, timerOf(state.runId, 99, state.last + 1), state.last + 1, strategyOf)!;
    expect(next.ending).toMatchObject({ outcome: 'failed', reason: sentence });
    expect(next.unusable).toBeUndefined();
  });
});

describe('a run whose first record and whose abort both meet an error of its strategy', () => {
  const { state } = named('version 9, agentic, paused');
  const { runId, request } = state;
  const failing: Strategies = (id) => ({
    ...strategyOf(id),
    initial: () => {
      throw new TypeError('not iterable');
    },
  });
  const asked = makeEvent(PlanRequested, { id: runId, runId, source: 'gateway', time: 1 }, request);

  it('ends with the reason of the dead letter', () => {
    expect(() => step(null, asked, 5, failing)).toThrow('not iterable');
    const { next, outputs, unusable } = step(null, abort(runId, 6), 6, failing, asked)!;
    expect(unusable).toBeInstanceOf(TypeError);
    expect(next).toMatchObject({
      runId,
      ending: { outcome: 'failed', reason: expect.stringContaining('is a dead letter: ResultReady x') },
    });
    expect(outputs).toMatchObject([{ type: 'RunCompleted' }]);
  });
});
