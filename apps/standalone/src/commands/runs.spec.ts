import { describe, expect, it } from '@jest/globals';
import { noUsage, type PlanRequested, RunView } from '@conclave/contracts';
import { step } from '@conclave/loop';
import { describeRun, strategyOf } from '@conclave/strategies';
import { runText } from './runs.js';

const used = { ...noUsage, calls: 5, prompt: 400, completion: 80 };

const runId = 'run_12345678';
const limits = { wall_time_s: 60, model_calls: 9, prompt_tokens: 9, tokens: 9, cost: null, concurrent_tasks: 1 };
const template = { id: 't', version: 'v', strategy: 'agentic', judge: { models: [] }, limits };
const caller = { tenant: 'default', actor: 'me' };
const data = { goal: 'What?', conversation: [], system: null, template, limits, caller, answer: {}, origin: 'runs', requestedAt: 1 };
const request = { type: 'PlanRequested', id: runId, runId, time: 1, data } as unknown as PlanRequested;

/** Lines about the usage of a run. */
function linesOf(usage: Partial<RunView['usage']>): readonly string[] {
  const run = RunView.parse(describeRun(step(null, request, 1, strategyOf)!.next, strategyOf));
  const text = runText({ ...run, usage: { ...run.usage, total: used, ...usage } });
  return text.split('\n').filter((line) => /^(Usage|Recorded)/.test(line));
}

describe('a wave of a run in the terminal', () => {
  it('shows what its plan says, and each call with its arguments and answer', () => {
    const run = RunView.parse(describeRun(step(null, request, 1, strategyOf)!.next, strategyOf));
    const call = { tool: 'pms.rooms', args: { nights: 2 }, result: 'three\nrooms' };
    const task = {
      ...{
        id: `${runId}/0/a`,
        capability: 'mcp',
        task: 'Call',
        needs: [],
        status: 'ok',
        confidence: null,
        model: null,
        facts: 1,
        gaps: [],
      },
      ...{ usage: used, durationMs: 1, failure: null, call },
    };
    const plan = { status: 'done', action: 'Asking for rooms', slots: {}, reasoning: '' };
    const text = runText({ ...run, rounds: [{ epoch: 0, fallback: false, planned: true, planUsage: used, plan, tasks: [task] }] });
    expect(text).toMatch(/action +Asking for rooms\n/);
    expect(text).toContain('    pms.rooms {"nights":2}\n    -> three rooms\n');
  });
});

describe('the sources of a run in the terminal', () => {
  it('have the numbers that the answer cites', () => {
    const run = RunView.parse(describeRun(step(null, request, 1, strategyOf)!.next, strategyOf));
    const source = { kind: 'corpus', url: null } as const;
    const sources = [
      { ...source, title: 'Tides', n: 1 },
      { ...source, title: 'Clocks', n: 6 },
      { ...source, title: 'Memory' },
    ];
    const text = runText({ ...run, answer: 'At noon [6].', sources });
    expect(text.split('\n').filter((line) => line.startsWith('Source '))).toEqual([
      'Source    [1] Tides',
      'Source    [6] Clocks',
      'Source    Memory',
    ]);
  });
});

describe('the usage of a run in the terminal', () => {
  it('is one line when the run has counted every call', () => {
    expect(linesOf({ recorded: used })).toEqual(['Usage     5 calls, 400 prompt and 80 completion tokens']);
    expect(linesOf({ recorded: null })).toHaveLength(1);
  });

  it('shows how many calls were in flight when it ended, and what was recorded since', () => {
    const total = { ...used, cost: 0.5 };
    const recorded = { ...used, calls: 7, prompt: 500, cost: 0.75, estimated: true };
    expect(linesOf({ total, openCalls: 2, recorded })).toEqual([
      'Usage     5 calls, 400 prompt and 80 completion tokens, cost 0.5000; 2 calls were in flight when it ended',
      'Recorded  7 calls, 500 prompt and 80 completion tokens (estimated), cost 0.7500, including calls that the run did not wait for',
    ]);
    expect(linesOf({ openCalls: 1 })).toEqual([expect.stringMatching(/; 1 call was in flight when it ended$/)]);
  });
});
