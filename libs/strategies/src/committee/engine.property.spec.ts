import { describe, expect, it } from '@jest/globals';
import type { Event } from '@conclave/contracts';
import fc from 'fast-check';
import { expert, oneCall, research, runId, Scenario } from '../testing/scenario.js';

/**
 * Plays planner, workers and clock against the engine in any order: events may be late, repeated, or never come,
 * in which case the timers do. Draws come from the given list, so that a failing case can be repeated.
 */
function play(draws: readonly number[], gapCheck: 'answer' | 'evidence'): Scenario {
  const run = new Scenario({ gap_check: gapCheck, max_agentic_rounds: 2 });
  let at = 0;
  const draw = (below: number): number => (draws[at++ % draws.length]! + at) % below;
  const pending: (() => unknown)[] = [() => run.requested()];
  if (draw(20) === 0) pending.push(() => run.cancel());
  let seen = 0;
  const react = (): void => {
    for (; seen < run.outputs.length; seen += 1) pending.push(...replies(run, run.outputs[seen]!, draw));
  };
  // The planner hears of a run at the same time as the engine.
  pending.push(...plans(run, 0, draw));
  for (let steps = 0; steps < 400 && run.completed() === undefined; steps += 1) {
    if (pending.length === 0 || draw(12) === 0) {
      fireNext(run);
      if (run.state === null && pending.length === 0) pending.push(() => run.requested());
    } else {
      const index = draw(pending.length);
      const event = pending[index]!;
      if (draw(6) !== 0) pending.splice(index, 1);
      event();
    }
    react();
  }
  // Whatever never came: the clock alone must end the run.
  if (run.state === null || run.state.phase === 'unborn') run.requested();
  for (let ticks = 0; ticks < 50 && run.completed() === undefined; ticks += 1) fireNext(run);
  for (const late of pending) late();
  return run;
}

function plans(run: Scenario, epoch: number, draw: (below: number) => number): (() => unknown)[] {
  switch (draw(5)) {
    case 0:
      return [];
    case 1:
      return [() => run.planFailed(epoch)];
    case 2:
      return [
        () =>
          run.planned(epoch, [
            research('r1', `query ${epoch}`),
            research('r2', `other ${epoch} words`),
            expert('x1', `task ${epoch}`, ['r1', 'r2']),
          ]),
      ];
    default:
      return [() => run.planned(epoch, [research('r1', `query ${epoch}`), expert('x1', `task ${epoch}`, ['r1'])])];
  }
}

function replies(run: Scenario, event: Event, draw: (below: number) => number): (() => unknown)[] {
  if (event.type === 'GapDetected') return plans(run, (event.data as { epoch: number }).epoch + 1, draw);
  if (event.type !== 'TaskDispatched') return [];
  const [, epoch, local] = event.id.split('/') as [string, string, string];
  const result = (data: Parameters<Scenario['result']>[1]) => () => run.result(local, data, Number(epoch));
  const kind = draw(6);
  if (kind === 0) return [];
  if (kind === 1) return [result({ status: 'error', failure: { code: 'PROVIDER_FAILED', message: 'broken', retriable: true } })];
  if (local.startsWith('judge.gap'))
    return [
      result({
        output: {
          kind: 'assessment',
          assessment: { verdict: kind < 4 ? 'needs_more_info' : 'complete', gap: kind < 4 ? 'more' : '', nextFocus: 'more', parsed: true },
        },
      }),
    ];
  if (local.startsWith('judge.synthesis'))
    return [result({ output: { kind: 'synthesis', text: 'the answer', insight: null, insightRejected: null, cutShort: false } })];
  if (local.startsWith('r'))
    return [
      result({
        usage: { ...oneCall, calls: 0 },
        output: {
          kind: 'evidence',
          facts:
            kind === 2
              ? []
              : [
                  {
                    text: `fact ${event.id}`,
                    source: { kind: 'corpus', title: 'doc', url: null },
                    taskId: event.id,
                    epoch: Number(epoch),
                    confidence: null,
                  },
                ],
        },
      }),
    ];
  return [result({ output: { kind: 'answer', text: 'yes', finding: `finding ${event.id}` }, confidence: 0.8 })];
}

/** Lets the timer of the run come due. */
const fireNext = (run: Scenario, started: boolean): void => {
  if (run.state?.due.at != null) run.fired({ started });
};

describe('the engine under any order of events', () => {
  it.each(['evidence', 'answer'] as const)(
    'ends every run with exactly one terminal event, nothing armed, nothing open (gap check on the %s)',
    (gapCheck) => {
      fc.assert(
        fc.property(fc.array(fc.nat(1_000), { minLength: 5, maxLength: 120 }), (draws) => {
          const run = play(draws, gapCheck);
          const end = run.completed();
          expect(end).toBeDefined();
          const state = run.state!;
          expect(state.phase).toBe('done');
          expect(Object.values(state.timers).filter((timer) => timer.dueAt !== null)).toEqual([]);
          expect(Object.values(state.tasks).filter((task) => task.status !== 'settled')).toEqual([]);
          if (end!['outcome'] !== 'cancelled' && end!['outcome'] !== 'failed') expect(end!['answer']).toEqual(expect.stringMatching(/./));
          else expect(end!['answer']).toBeNull();
          const ids = run.outputs.map((event) => event.id);
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.every((id) => id.startsWith(runId))).toBe(true);
        }),
        { numRuns: 120 },
      );
    },
  );
});
