import { describe, expect, it } from '@jest/globals';
import type { Event, PlannedTask, Template } from '@conclave/contracts';
import { NotBegun } from '@conclave/loop';
import fc from 'fast-check';
import { expert, oneCall, research, runId, Scenario } from '../testing/scenario.js';

type Draw = (below: number) => number;

/** A template whose pipeline is drawn: tiers, members that always answer, refinement, thinking, critic, both gap checks. */
function drawnTemplate(draw: Draw): Partial<Template> {
  const t2 = draw(2) === 0 ? {} : { t2: ['big@fake'] };
  const always = draw(4) === 0 ? { always: ['also@fake'] } : {};
  const general = { t1: ['m@fake'], prompt: '', ...t2, ...always };
  return {
    gap_check: draw(2) === 0 ? 'evidence' : 'answer',
    max_agentic_rounds: draw(4),
    refine_rounds: draw(3),
    thinking: draw(2) === 0,
    experts: { general, legal_advisor: general },
    ...(draw(2) === 0 ? { critic: { categories: ['legal_advisor'] } } : {}),
  };
}

const drawnLimits = (draw: Draw) =>
  draw(3) > 0
    ? {}
    : { model_calls: 1 + draw(16), concurrent_tasks: 1 + draw(3), ...(draw(2) === 0 ? { prompt_tokens: 200 + draw(2_000) } : {}) };

/**
 * Plays planner, workers, clock and an impatient user against the engine in any order: events may be late, repeated, or never come,
 * in which case the timer does. Draws come from the given list, so that a failing case can be repeated.
 */
function play(draws: readonly number[]): Scenario {
  let at = 0;
  const draw: Draw = (below) => (draws[at++ % draws.length]! + at) % below;
  const run = new Scenario(drawnTemplate(draw));
  const limits = drawnLimits(draw);
  const pending: (() => unknown)[] = [() => run.requested(limits)];
  if (draw(20) === 0) pending.push(() => run.cancel(draw(9)));
  for (const seq of [1, 2, 3].slice(0, draw(4))) pending.push(() => run.command(seq, { name: seq % 2 === 1 ? 'pause' : 'resume' }));
  let seen = 0;
  const react = (): void => {
    for (; seen < run.outputs.length; seen += 1) pending.push(...replies(run, run.outputs[seen]!, draw));
  };
  // The planner hears of a run at the same time as the engine.
  pending.push(...plans(run, 0, draw));
  for (let steps = 0; steps < 400 && run.completed() === undefined; steps += 1) {
    run.now += draw(300);
    if (pending.length === 0 || draw(12) === 0) fireNext(run, draw(2) === 0);
    else {
      const index = draw(pending.length);
      const event = pending[index]!;
      if (draw(6) !== 0) pending.splice(index, 1);
      give(event, pending);
    }
    react();
  }
  // Whatever never came: the clock alone must end the run.
  if (run.state === null) run.requested(limits);
  for (let ticks = 0; ticks < 200 && run.completed() === undefined; ticks += 1) fireNext(run, ticks % 2 === 0);
  for (const late of pending) give(late, []);
  return run;
}

/** What came too early is given again later. */
function give(event: () => unknown, pending: (() => unknown)[]): void {
  try {
    event();
  } catch (error) {
    if (!(error instanceof NotBegun)) throw error;
    pending.push(event);
  }
}

function plans(run: Scenario, epoch: number, draw: Draw): (() => unknown)[] {
  const legal = (id: string, task: string): PlannedTask => ({ ...expert(id, task), capability: 'expert.legal_advisor' });
  const more = {
    complexity: (['moderate', 'moderate', 'complex', 'trivial'] as const)[draw(4)]!,
    safety: draw(5) === 0 ? ['law' as const] : [],
  };
  const planned = (...tasks: PlannedTask[]) => [() => run.planned(epoch, tasks, undefined, more)];
  if (more.complexity === 'trivial') return planned(expert('x1', `task ${epoch}`));
  switch (draw(6)) {
    case 0:
      return [];
    case 1:
      return [() => run.planFailed(epoch)];
    case 2:
      return planned(research('r1', `query ${epoch}`), research('r2', `other ${epoch} words`), expert('x1', `task ${epoch}`, ['r1', 'r2']));
    case 3:
      return planned(legal('x1', `the law ${epoch}`), expert('x2', 'the same every time'));
    default:
      return planned(research('r1', `query ${epoch}`), expert('x1', `task ${epoch}`, ['r1']));
  }
}

function replies(run: Scenario, event: Event, draw: Draw): (() => unknown)[] {
  if (event.type === 'GapDetected') return plans(run, (event.data as { epoch: number }).epoch + 1, draw);
  if (event.type !== 'TaskDispatched') return [];
  const { input } = event.data as { input: { kind: string; answers?: { taskId: string }[]; pairs?: { taskId: string }[] } };
  const [, epoch, local] = event.id.split('/') as [string, string, string];
  const result = (data: Parameters<Scenario['result']>[1]) => () => run.result(local, data, Number(epoch));
  const kind = draw(6);
  if (kind === 0) return [];
  if (kind === 1) return [result({ status: 'error', failure: { code: 'PROVIDER_FAILED', message: 'broken', retriable: true } })];
  const long = `the answer ${'word '.repeat(draw(2) * 40)}`;
  const facts = [
    {
      text: `fact ${event.id}`,
      source: { kind: 'corpus' as const, title: 'doc', url: null },
      taskId: event.id,
      epoch: Number(epoch),
      confidence: null,
    },
  ];
  const isOpen = kind < 4;
  switch (input.kind) {
    case 'gap':
      return [
        result({
          output: {
            kind: 'assessment',
            assessment: {
              verdict: isOpen ? 'needs_more_info' : 'complete',
              gap: isOpen ? 'more' : '',
              nextFocus: 'more',
              parsed: draw(5) > 0,
            },
          },
        }),
      ];
    case 'synthesis':
      return [result({ output: { kind: 'synthesis', text: long, insight: null, insightRejected: null, cutShort: false } })];
    case 'research':
      return [result({ usage: { ...oneCall, calls: 0 }, output: { kind: 'evidence', facts: kind === 2 ? [] : facts } })];
    case 'hints':
      return [
        result({
          output: { kind: 'hints', hints: Object.fromEntries(input.answers!.slice(draw(2)).map(({ taskId }) => [taskId, 'Be exact.'])) },
        }),
      ];
    case 'score':
      return [
        result({ output: { kind: 'scores', scores: input.pairs!.map(({ taskId }) => ({ taskId, before: 0.4, after: draw(10) / 10 })) } }),
      ];
    case 'thinking':
      return [result({ output: { kind: 'thinking', text: 'CONCLUSION' } })];
    case 'critic':
      return [
        result({
          output: {
            kind: 'critique',
            verdict: (['confirmed', 'corrected', 'unparsable'] as const)[draw(3)]!,
            reasons: [],
            text: 'Corrected.',
          },
        }),
      ];
    default:
      return [result({ output: { kind: 'answer', text: long, finding: `finding ${event.id}` }, confidence: draw(10) / 10 })];
  }
}

/** Lets the timer of the run come due: a millisecond earlier the clock changes nothing, then it does. */
function fireNext(run: Scenario, started: boolean): void {
  const due = run.state?.due.at;
  if (typeof due !== 'number') return;
  if (run.now < due - 1) expect(run.probed(due - 1, { started })).toEqual([]);
  expect(run.fired({ started })!.facts).not.toEqual([]);
}

describe('the engine under any order of events', () => {
  it('ends every run with exactly one terminal event, no timer, nothing open; its facts fold to its state; it is due exactly when the clock alone changes it', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { minLength: 5, maxLength: 120 }), (draws) => {
        const run = play(draws);
        const end = run.completed();
        expect(end).toBeDefined();
        const state = run.state!;
        expect(state.endedAt).not.toBeNull();
        expect(state.due.at).toBeNull();
        expect(Object.values(state.tasks).filter((task) => task.status !== 'settled')).toEqual([]);
        if (end!['outcome'] !== 'cancelled' && end!['outcome'] !== 'failed') expect(end!['answer']).toEqual(expect.stringMatching(/./));
        else expect(end!['answer']).toBeNull();
        const ids = run.outputs.map((event) => event.id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.every((id) => id.startsWith(runId))).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});
