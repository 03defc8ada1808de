import { describe, expect, it } from '@jest/globals';
import { defaultBounds, type Evidence } from '../evidence/evidence.js';
import { calledAgain, changed, clean, found, one } from './__fixtures__/changes.js';
import { processOf } from './__fixtures__/story.js';
import { check } from './check.js';

describe('model calls bounded', () => {
  const step = `${one}/0/x1/call/0`;
  const killed = (at: number, process = 'experts', signal = 'SIGKILL') => ({ deaths: [{ process, at, signal }] });
  const end = clean.history.at(-1)!.at;

  it('finds a finished and stored call that was made again, regardless of deaths', () => {
    expect(found(calledAgain('experts', step, killed(end + 1), { stored: 'stored' }))).toEqual([`model-calls-bounded ${step}`]);
  });

  it('finds a repeat that no death explains', () => {
    expect(found(calledAgain('experts', step))).toEqual([`model-calls-bounded ${step}`]);
    expect(found(calledAgain('experts', step, killed(end + 1, 'planner')))).toEqual([`model-calls-bounded ${step}`]);
    // Killed before it had begun the call, and after the repeat.
    expect(found(calledAgain('experts', step, killed(1)))).toEqual([`model-calls-bounded ${step}`]);
    expect(found(calledAgain('experts', step, killed(end + 20_000)))).toEqual([`model-calls-bounded ${step}`]);
  });

  it('counts a repeat that a death explains, and what it cost', () => {
    const evidence = calledAgain('experts', step, killed(end + 1, 'experts-2'));
    expect(found(evidence)).toEqual([]);
    expect(check(evidence, defaultBounds).figures).toMatchObject({ deaths: 1, duplicateCalls: 1, tokensWasted: 12 });
  });

  it('accepts a freeze, an orderly stop and a call that was abandoned unsent as reasons', () => {
    const frozen = calledAgain('experts', step, killed(end + 1, 'experts', 'SIGSTOP'));
    expect(found(frozen)).toEqual([]);
    expect(check(frozen, defaultBounds).figures.deaths).toBe(0);
    const line = (op: string, phase: string, id: string, data: object) => ({
      ...clean.history,
      at: end,
      process: processOf('experts'),
      actor: 'experts',
      op,
      phase,
      id,
      data,
    });
    const after = (more: ReturnType<typeof line>): Evidence => {
      const evidence = calledAgain('experts', step);
      const place = evidence.history.findIndex(({ op, phase, id }) => op === 'call' && phase === 'ok' && id === step);
      return { ...evidence, history: evidence.history.map((entry, n) => (n === place ? more : entry)) };
    };
    expect(found(after(line('process', 'stop', processOf('experts'), { code: 0 })))).toEqual([]);
    expect(found(after(line('call', 'abandoned', step, { attempt: 1, sent: false })))).toEqual([]);
    expect(found(after(line('call', 'abandoned', step, { attempt: 1, sent: true })))).toEqual([`model-calls-bounded ${step}`]);
  });

  it('finds more calls at the model server than steps and repeats account for', () => {
    const extra = changed((evidence) => {
      evidence.history = [
        ...evidence.history,
        { at: 1, process: 'test', actor: 'model', op: 'model.call', phase: 'invoke', id: 'call-98', data: null },
      ];
    });
    expect(found(extra)).toEqual(['model-calls-bounded model.call']);
    expect(found({ ...extra, upstreamFaults: true })).toEqual([]);
  });

  it('finds a call that was started for a run that had ended long before', () => {
    const late = changed((evidence) => {
      evidence.history = evidence.history.map((line) =>
        line.op === 'call' && line.phase === 'invoke' && line.id === step ? { ...line, at: end + 60_000 } : line,
      );
    });
    expect(found(late)).toEqual([`model-calls-bounded ${step}`]);
  });
});
