import { describe, expect, it } from '@jest/globals';
import type { CallRecorded } from '@conclave/contracts';
import { recordedNames, recordsOf, replayOf } from './__fixtures__/recorded-runs.js';
import { replayedText } from './replayed-text.js';

/**
 * The regression suite for prompts, parsers and rules. After an intended change, record the runs again and review the difference:
 *   node tools/run.mjs record-runs
 */
describe('the runs that are kept', () => {
  it('are one of each strategy at least', () => {
    expect(recordedNames).toEqual(expect.arrayContaining(['agentic', 'single-pass', 'waves']));
  });

  it.each(recordedNames)("%s is decided by today's code as it was recorded: else record it again if that was meant", async (name) => {
    const records = await recordsOf(name);
    const run = await replayOf(records);
    expect(replayedText(run)).toMatch(/^run_\w+: same decisions, same state: \d+ steps, \d+ calls, \d+ outcomes · hash [0-9a-f]{16}\n$/);
    const made = records
      .filter(({ event }) => event?.type === 'CallRecorded')
      .map(({ event }) => (event!.data as CallRecorded['data']).purpose);
    // The look-up of the question has no outcome of its own: there is one plan, however it was made.
    expect(run.driven).toMatchObject({ calls: made.length, outcomes: made.filter((purpose) => purpose !== 'plan.lookup').length });
    expect(made.length).toBeGreaterThan(2);
    expect(await replayOf(records)).toEqual(run);
  });
});
