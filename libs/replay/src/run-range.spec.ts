import { describe, expect, it } from '@jest/globals';
import type { ReadRange } from '@conclave/ports';
import { logOf, recordsOf } from './__fixtures__/recorded-runs.js';
import { readRuns } from './read-runs.js';
import { byRunFirst, RunRange } from './run-range.js';

describe('the records that are read for one run', () => {
  const id = 'run_00000001';

  it('are its partition of topics that are keyed by run, which come first', () => {
    expect(byRunFirst(['dead', 'tasks.dispatched.expert', 'audit', 'run.completed'])).toEqual([
      'audit',
      'run.completed',
      'dead',
      'tasks.dispatched.expert',
    ]);
    expect(new RunRange([id]).of('audit')).toEqual({ keys: [id] });
  });

  it('are those of its time in all others, and later dead letters', () => {
    const range = new RunRange([id]);
    for (const appendedAt of [1_000_000, 1_300_000, 1_100_000]) range.saw({ appendedAt });
    expect(range.of('tasks.dispatched.expert')).toEqual({ since: 940_000, until: 1_360_000 });
    expect(range.of('dead')).toEqual({ since: 940_000 });
  });

  it('are all records while no record of the run is known', () => {
    expect(new RunRange([id]).of('dead')).toEqual({});
  });

  it('are bounded in every topic that replay reads for it, among runs of other times', async () => {
    const records = await recordsOf('agentic');
    const runId = records.find(({ event }) => event)!.event!.runId;
    const times = records.map(({ appendedAt }) => appendedAt);
    const { log, topics } = logOf(records);
    const asked: (readonly [string, ReadRange | undefined])[] = [];
    const bounded = {
      // Like a log that leaves out what was not requested.
      async *read(topic: string, range?: ReadRange) {
        asked.push([topic, range]);
        for await (const record of log.read(topic))
          if (record.appendedAt >= (range?.since ?? 0) && record.appendedAt <= (range?.until ?? Infinity)) yield record;
      },
    };
    const whole: number[] = [];
    const found: number[] = [];
    await readRuns({ log, topics }, null, async ({ bytes }) => void whole.push(bytes));
    await readRuns({ log: bounded, topics }, runId, async ({ bytes }) => void found.push(bytes));
    expect(found).toEqual(whole);
    const tasks = asked.filter(([topic]) => topic.startsWith('tasks.dispatched.'));
    expect(tasks.length).toBeGreaterThan(0);
    for (const [, range] of tasks) {
      expect(range!.since).toBeGreaterThanOrEqual(Math.min(...times) - 60_000);
      expect(range!.until).toBeLessThanOrEqual(Math.max(...times) + 60_000);
    }
    for (const [topic, range] of asked) if (!topic.startsWith('tasks.')) expect([topic, range]).toEqual([topic, { keys: [runId] }]);
  });
});
