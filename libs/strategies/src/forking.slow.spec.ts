import { describe, expect, it } from '@jest/globals';
import { makeEvent, PlanRequested, type Event, type Fork, type RunFact, type TaskDispatched } from '@conclave/contracts';
import { foldStep, forkAfter, inputOf, step, type StepResult, type RecordedStep, type RunState } from '@conclave/loop';
import { answerAfter, committee, rounds } from './testing/scripted-run.js';
import { deciding } from './testing/deciding.js';
import { research, runId, Scenario } from './testing/scenario.js';
import { scriptedRuns } from './testing/scripted-runs.js';
import { stepping } from './testing/stepping.js';

const newId = 'run_00000002';
/** Long after the run: nothing in a fork may depend on the clock of the run that it continues. */
const later = 90_000_000_000;
const renamed = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(runId, newId)) as T;

const stateAfter = ({ audit: steps, strategies }: Scenario, upTo: number): RunState =>
  steps.slice(0, upTo).reduce<RunState | null>((state, recorded) => foldStep(runId, state, recorded, strategies), null)!;

const forkOf = ({ audit: steps, strategies }: Scenario, upTo: number, model: string | null = null): Fork | null =>
  forkAfter(steps.slice(0, upTo), {
    ...{ of: runId, runId: newId, strategies },
    modelsOf: ({ models }) => (model === null ? models : [model]),
  });

function begun(run: Scenario, fork: Fork): StepResult {
  const { data } = inputOf(runId, run.audit[0]!.input) as PlanRequested;
  const request = makeEvent(
    PlanRequested,
    { id: newId, runId: newId, source: 'gateway', time: later },
    { ...data, requestedAt: later, caching: null, fork },
  );
  return step(null, request, later, run.strategies)!;
}

const open = ({ tasks }: RunState): readonly string[] =>
  Object.entries(tasks).flatMap(([ref, { status }]) => (status === 'open' ? [ref] : []));
const kinds = (facts: readonly RunFact[]): readonly string[] => facts.map(({ kind }) => kind);
/** Inputs that a fork may receive, too: its timers are its own. */
const replayable = ({ input }: RecordedStep): boolean => input.type !== 'TimerFired';

describe('a fork of a scripted run', () => {
  const all = scriptedRuns.map((scripted) => [scripted.name, scripted] as const);

  it.each(all)('waits after each step for what the run waited for: %s', (_name, { play }) => {
    const run = play();
    for (let upTo = 1; upTo <= run.audit.length; upTo += 1) {
      const before = stateAfter(run, upTo);
      const fork = forkOf(run, upTo);
      expect(fork === null).toBe(before.endedAt !== null);
      if (!fork) continue;
      const { next, outputs } = begun(run, fork);
      expect(next.forked).toMatchObject({ of: runId, step: upTo, before: before.spent });
      expect([next.spent, next.memory.facts, next.rounds, next.plans]).toEqual(
        renamed([before.spent, before.memory.facts, before.rounds, before.plans]),
      );
      expect(next.ran).toBe(before.since === null ? before.ran : before.ran + Math.max(0, before.last - before.since));
      if (next.ending || before.paused) continue;
      expect(open(next)).toEqual(renamed(open(before)));
      expect(next.awaiting?.epoch).toBe(before.awaiting?.epoch);
      expect(next.question?.text).toBe(before.question?.text);
      const sent = outputs.filter(({ type }) => type === 'TaskDispatched').map(({ id }) => id);
      expect(sent).toEqual(open(next));
      expect(outputs.some(({ type }) => type === 'GapDetected')).toBe((next.awaiting?.epoch ?? 0) > 0);
    }
  });

  it.each(all)('ends like the run if it receives the same replies: %s', (_name, { play, outcome }) => {
    const run = play();
    if (!run.audit.every(replayable)) return;
    for (let upTo = 1; upTo < run.audit.length; upTo += 1) {
      const fork = forkOf(run, upTo);
      if (!fork || stateAfter(run, upTo).paused) continue;
      let { next } = begun(run, fork);
      for (const { input, now } of run.audit.slice(upTo)) {
        const event = inputOf(newId, renamed(input));
        next = step(next, event, later + now - run.audit[upTo - 1]!.now, run.strategies)?.next ?? next;
      }
      expect(next.ending?.outcome).toBe(outcome);
    }
  });
});

describe('a fork', () => {
  const played = (): Scenario =>
    committee((run) => {
      rounds(run, ['who founded the mill', 'The mill was founded.'], ['letters about rope', 'Ana wrote them.']);
      run.planned(2, []);
      if (run.state!.endedAt === null) answerAfter(run);
    })();

  it('has the facts of the other run up to the step, then the fact that it is a fork, then its own', () => {
    const run = played();
    const upTo = 3;
    const { facts } = begun(run, forkOf(run, upTo)!);
    const at = facts.findIndex(({ kind }) => kind === 'RunForked');
    const theirs = run.decisions.slice(0, upTo).flatMap((decision) => decision.facts);
    const isOpenNow = (fact: RunFact): boolean => fact.kind === 'TaskOpened' && stateAfter(run, upTo).tasks[fact.ref]!.status === 'open';
    expect(kinds(facts.slice(0, at))).toEqual(kinds(theirs.filter((fact) => !isOpenNow(fact))));
    expect(facts[at]).toMatchObject({ of: runId, step: upTo, at: later });
    expect(JSON.stringify(facts.filter(({ kind }) => kind !== 'RunForked' && kind !== 'RunStarted'))).not.toContain(runId);
  });

  it('asks the given models, for open tasks as for new ones, and keeps those of settled tasks', () => {
    const of = committee((playing) => {
      rounds(playing, ['who founded the mill', 'The mill was founded.']);
    })();
    const upTo = of.audit.findIndex(({ outputs }) => outputs.some(({ id }) => id.endsWith('judge.gap'))) + 1;
    const { outputs } = begun(of, forkOf(of, upTo, 'other@fake')!);
    expect(outputs.map((event: Event) => [event.id, (event as TaskDispatched).data.models])).toEqual([
      [`${newId}/0/judge.gap`, ['other@fake']],
    ]);
  });

  it('teaches nothing: its answer stays out of caches, memory, graph and scores', () => {
    const run = played();
    const last = run.audit.length - 1;
    const begin = begun(run, forkOf(run, last)!);
    const { next, outputs } = step(begin.next, inputOf(newId, renamed(run.audit[last]!.input)), later + 1, run.strategies)!;
    expect(next.endedAt).not.toBeNull();
    const { data } = outputs.find(({ type }) => type === 'RunCompleted')!;
    expect(data).toMatchObject({ caching: null, insight: null, experts: [] });
    expect((data as { learning: { graph: string } }).learning.graph).toBe('off');
    expect(data).not.toHaveProperty('remember');
  });

  it('does not carry out a command that waited for its turn in the other run, but an answer that had been given', () => {
    const of = new Scenario({ strategy: 'stepping' }, stepping);
    of.requested();
    of.planned(0, [research('r1', 'who founded the mill')]);
    of.command(1, { name: 'pause' });
    of.command(2, { name: 'override_step', skill: 'research', input: 'look elsewhere' });
    const { next } = begun(of, forkOf(of, of.audit.length)!);
    expect([next.owed, open(next), next.commands]).toEqual([[], [`${newId}/0/r1`], []]);

    const asking = new Scenario({ strategy: 'deciding' }, deciding([{ by: 'assessment', question: 'Which one?' }], { asks: true }));
    asking.requested();
    asking.planned(0, [research('r', 'the first thing')]);
    asking.found('r', 'a');
    asking.command(1, { name: 'pause' });
    asking.command(2, { name: 'answer', text: 'the red one' });
    expect(open(begun(asking, forkOf(asking, asking.audit.length)!).next)).toEqual([`${newId}/0/answered`]);
  });

  it('of a fork knows the facts of both', () => {
    const run = played();
    const first = forkOf(run, 3)!;
    const decision = begun(run, first);
    const recorded = {
      ...run.audit[0]!,
      input: { id: newId, type: 'PlanRequested', time: later, data: decision.next.request },
      now: later,
      facts: JSON.parse(JSON.stringify(decision.facts)) as RecordedStep['facts'],
    };
    const third = forkAfter([recorded], { of: newId, runId: 'run_00000003', strategies: run.strategies, modelsOf: ({ models }) => models });
    expect(third).toMatchObject({ of: newId, step: 1 });
    expect(third!.facts.filter(({ kind }) => kind === 'RunForked')).toMatchObject([{ of: runId, step: 3 }]);
  });
});
