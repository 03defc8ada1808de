import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { defaultBounds } from '../evidence/evidence.js';
import { readEvidence, writeEvidence } from '../evidence/store.js';
import { another, changed, clean, found, one, two, without } from './__fixtures__/changes.js';
import { Story } from './__fixtures__/story.js';
import { check } from './check.js';
import { findingsText } from './print.js';

describe('the checker', () => {
  it('finds nothing in a storm without harm, and counts it', () => {
    expect(check(clean, defaultBounds)).toEqual({
      findings: [],
      figures: { accepted: 2, answered: 2, deaths: 0, duplicateCalls: 0, tokensWasted: 0 },
    });
  });

  it('accepts events that are on the log twice, because delivery is at least once', () => {
    const twice = changed((evidence) => {
      evidence.records = [...evidence.records, ...evidence.records.map((record) => another(record, {}))];
      evidence.committed = evidence.committed.map((position) => ({ ...position, offset: '5000' }));
    });
    expect(found(twice)).toEqual([]);
  });

  it('judges evidence from a file in the same way', () => {
    const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
    const file = join(folder, 'kept/evidence.json');
    try {
      writeEvidence(file, without(`${one}/completed`));
      expect(check(readEvidence(file), defaultBounds)).toEqual(check(without(`${one}/completed`), defaultBounds));
      writeFileSync(file, '{"records": []}');
      expect(() => readEvidence(file)).toThrow('it has no history');
      writeFileSync(file, '{"rec');
      expect(() => readEvidence(file)).toThrow('is not JSON');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('prints each check with at most twenty ids, and the total', () => {
    const findings = Array.from({ length: 22 }, (_, n) => ({
      check: 'acknowledged-appends' as const,
      id: `e${n}`,
      sentence: 'It is gone.',
    }));
    const text = findingsText([...findings, { check: 'enough-succeeded', id: 's', sentence: 'No.' }]);
    expect(text.split('\n')).toHaveLength(1 + 20 + 1 + 2 + 1);
    expect(text).toContain('check 2 acknowledged-appends: 22 findings\n  e0: It is gone.\n');
    expect(text).toContain('  and 2 more\nguard enough-succeeded: 1 finding\n  s: No.\n23 findings in all');
  });
});

describe('replay, calm and enough', () => {
  it('names the runs that a replay decides differently', () => {
    const text = `${one}: same decisions, same state: 5 steps\n${two}: step 3 differs in rule, after 2 steps that are the same\n  input     ResultReady x\n`;
    expect(found({ ...clean, replay: { code: 1, text, modelCalls: 0 } })).toEqual([`replay-the-same ${two}`]);
    expect(found({ ...clean, replay: { code: 2, text: 'no log', modelCalls: 0 } })).toEqual(['replay-the-same replay']);
    expect(found({ ...clean, replay: { ...clean.replay, modelCalls: 3 } })).toEqual(['replay-the-same replay']);
    const undecodable = `${one}: same decisions, same state: 5 steps\n  cannot be decoded: audit/0/3\n`;
    expect(found({ ...clean, replay: { code: 1, text: undecodable, modelCalls: 0 } })).toEqual(['replay-the-same audit/0/3']);
  });

  it('finds lag, growth and a process that does not end', () => {
    expect(found({ ...clean, lag: [{ group: 'planner', topic: 'plan.requested', records: 2 }] })).toEqual([
      'calm-afterwards planner plan.requested',
    ]);
    const memory = (afterMb: number) => found({ ...clean, memory: [{ process: 'merger', beforeMb: 100, afterMb }] });
    expect([memory(214), memory(215)]).toEqual([[], ['calm-afterwards merger']]);
    const closing = (code: number | null, ms = 10) =>
      found({ ...clean, closings: [{ process: 'planner', exit: { code, signal: code === null ? 'SIGKILL' : null, at: 1 }, ms }] });
    expect([closing(0), closing(1), closing(null), closing(0, 20_000)].map(({ length }) => length)).toEqual([0, 1, 1, 1]);
    expect(found({ ...clean, closings: [{ process: 'planner', exit: null, ms: 10 }] })).toEqual(['calm-afterwards planner']);
  });

  it('requires enough accepted and enough answered runs', () => {
    expect(found(clean, { accepted: 3 })).toEqual(['enough-succeeded no-harm']);
    expect(found(new Story().evidence())).toEqual(['enough-succeeded no-harm']);
  });

  it('never counts an unknown outcome as success', () => {
    const unknown = changed((evidence) => {
      evidence.history = evidence.history.map((line) => (line.op === 'ask' && line.phase === 'ok' ? { ...line, phase: 'unknown' } : line));
    });
    expect(check(unknown, defaultBounds)).toMatchObject({
      findings: [{ check: 'enough-succeeded', id: 'no-harm' }],
      figures: { accepted: 2, answered: 0 },
    });
  });

  it('requires nothing of a question that may not have been accepted, and everything of one whose request is on the log', () => {
    const lost = { id: 'ask-x', question: 'Was I heard?', runId: null, acceptedAt: null };
    const asking = { at: 1, process: 'test', actor: 'client', op: 'ask', id: 'ask-x', data: null };
    const history = [...clean.history, { ...asking, phase: 'invoke' }, { ...asking, phase: 'unknown' }];
    expect(check({ ...clean, asked: [...clean.asked, lost], history }, defaultBounds)).toMatchObject({
      findings: [],
      figures: { accepted: 2 },
    });
    const heard = new Story(one, two, 'run_00000003').evidence();
    const unheard = changed((evidence) => {
      evidence.records = evidence.records.filter(({ event }) => event?.id !== 'run_00000003/completed');
      evidence.asked = evidence.asked.map((ask) => (ask.runId === 'run_00000003' ? { ...ask, runId: null } : ask));
    }, heard);
    expect(found(unheard)).toContain('one-terminal-event run_00000003');
    // The run counts neither for nor against the successes.
    expect(check(unheard, { ...defaultBounds, answered: 1 }).figures).toMatchObject({ accepted: 2, answered: 2 });
    expect(found(unheard, { answered: 1 })).not.toContain('enough-succeeded no-harm');
  });
});
