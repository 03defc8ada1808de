import { describe, expect, it } from '@jest/globals';
import { noUsage, RunView } from '@conclave/contracts';
import { describeRun, step, type EngineInput } from '@conclave/loop';
import { acceptance } from '@conclave/ports/suites';
import { strategyOf } from '@conclave/strategies';
import { runText } from './runs.js';

const used = { ...noUsage, calls: 5, prompt: 400, completion: 80 };

const begun = step(null, acceptance('run_12345678').header as EngineInput, 0, strategyOf)!.next;

/** The lines about usage of a run that has used that. */
function linesOf(usage: Partial<RunView['usage']>): readonly string[] {
  const run = RunView.parse(describeRun(begun, strategyOf));
  const text = runText({ ...run, usage: { ...run.usage, total: used, ...usage } });
  return text.split('\n').filter((line) => /^(Usage|Recorded)/.test(line));
}

describe('the usage of a run in the terminal', () => {
  it('is one line where the run has counted every call', () => {
    expect(linesOf({ recorded: used })).toEqual(['Usage     5 calls, 400 prompt and 80 completion tokens']);
    expect(linesOf({ recorded: null })).toHaveLength(1);
  });

  it('says how many calls were in flight when it ended, and what was recorded since', () => {
    const total = { ...used, cost: 0.5 };
    const recorded = { ...used, calls: 7, prompt: 500, cost: 0.75, estimated: true };
    expect(linesOf({ total, openCalls: 2, recorded })).toEqual([
      'Usage     5 calls, 400 prompt and 80 completion tokens, cost 0.5000; 2 calls were in flight when it ended',
      'Recorded  7 calls, 500 prompt and 80 completion tokens (estimated), cost 0.7500, with calls that the run did not wait for',
    ]);
    expect(linesOf({ openCalls: 1 })).toEqual([expect.stringMatching(/; 1 call was in flight when it ended$/)]);
  });
});
