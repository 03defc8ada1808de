import { describe, expect, it } from '@jest/globals';
import type { CallRecorded, StepRecorded } from '@conclave/contracts';
import { foldStep, type RunState } from '@conclave/loop';
import { stateHash } from '@conclave/service-merger';
import { strategyOf } from '@conclave/strategies';
import { recordedNames, recordsOf, replayOf } from './__fixtures__/recorded-runs.js';
import { ownerOf } from './recording.js';
import { replayedText } from './replayed-text.js';

/**
 * The regression suite for prompts, parsers and rules. After an intended change, record the runs again and review the difference:
 *   node tools/run.mjs record-runs
 */
describe('the stored runs', () => {
  it('include at least one of each strategy', () => {
    expect(recordedNames).toEqual(
      expect.arrayContaining(['agentic', 'decompose', 'decompose-from-cache', 'reflective-rag', 'single-pass', 'waves']),
    );
  });

  it.each(recordedNames)(
    "%s is decided by today's code as it was recorded; otherwise record it again if that was intended",
    async (name) => {
      const records = await recordsOf(name);
      const run = await replayOf(records);
      expect(replayedText(run)).toMatch(/^run_\w+: same decisions, same state: \d+ steps, \d+ calls, \d+ outcomes · hash [0-9a-f]{16}\n$/);
      const made = records
        .filter(({ event }) => event?.type === 'CallRecorded')
        .map(({ event }) => ownerOf((event!.data as CallRecorded['data']).step));
      // A plan or task may make several calls and has one outcome.
      expect(run.driven).toMatchObject({ calls: made.length, outcomes: new Set(made).size });
      expect(made.length).toBeGreaterThan(2);
      expect(await replayOf(records)).toEqual(run);
    },
  );

  it.each(recordedNames)('%s has the same state when its facts are folded', async (name) => {
    const steps = (await recordsOf(name)).filter(({ event }) => event?.type === 'StepRecorded').map(({ event }) => event as StepRecorded);
    const ordered = [...steps].sort((a, b) => a.data.version - b.data.version);
    const folded = ordered.reduce<RunState | null>((state, { runId, data }) => foldStep(runId, state, data, strategyOf), null);
    expect(stateHash(folded!)).toBe(ordered.at(-1)!.data.stateHash);
  });
});
