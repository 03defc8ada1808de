import { describe, expect, it } from '@jest/globals';
import type { AnyEvent, RunCompleted } from '@conclave/contracts';
import { RunOverheads, uncovered } from './overhead.js';

const event = (type: string, id: string, time: number, data: object): AnyEvent =>
  ({ type, id, time, runId: 'run_1', data }) as unknown as AnyEvent;
const asked = event('PlanRequested', 'request', 1_000, {});
const planned = event('PlanCreated', 'plan', 1_300, { epoch: 0, usage: { calls: 1 } });
const result = (id: string, time: number, durationMs: number): AnyEvent =>
  event('ResultReady', id, time, { durationMs, usage: { calls: 1 } });
const ended = (calls: number): RunCompleted =>
  event('RunCompleted', 'end', 2_000, { startedAt: 1_000, completedAt: 2_000, usage: { calls } }) as RunCompleted;

describe('the time outside all intervals', () => {
  it('counts overlaps once, and nothing outside the window', () => {
    expect(uncovered([0, 100], [])).toBe(100);
    expect(
      uncovered(
        [0, 100],
        [
          [50, 70],
          [10, 30],
          [20, 60],
        ],
      ),
    ).toBe(40);
    expect(
      uncovered(
        [0, 100],
        [
          [-50, 10],
          [90, 300],
          [200, 400],
        ],
      ),
    ).toBe(80);
    expect(uncovered([0, 100], [[-1, 101]])).toBe(0);
  });
});

describe('the overhead of a run', () => {
  it('is its time without plans and tasks, however many ran at once', () => {
    const overheads = new RunOverheads();
    for (const one of [asked, planned, result('a', 1_600, 200), result('b', 1_650, 250), result('b', 1_650, 250)]) overheads.took(one);
    expect(overheads.ended(ended(3))).toBe(1_000 - 300 - 250);
  });

  it('counts a re-plan from its gap on', () => {
    const overheads = new RunOverheads();
    for (const one of [asked, planned]) overheads.took(one);
    overheads.gave(event('GapDetected', 'gap', 1_400, { epoch: 0 }));
    overheads.took(event('PlanCreated', 'plan2', 1_900, { epoch: 1, usage: { calls: 1 } }));
    expect(overheads.ended(ended(2))).toBe(1_000 - 300 - 500);
  });

  it('is not guessed if another process took some of the steps', () => {
    const overheads = new RunOverheads();
    expect(overheads.ended(ended(1))).toBeNull();
    for (const one of [asked, planned]) overheads.took(one);
    expect(overheads.ended(ended(2))).toBeNull();
  });
});
