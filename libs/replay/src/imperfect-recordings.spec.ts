import { describe, expect, it } from '@jest/globals';
import { noUsage, type CallRecorded, type ResultReady } from '@conclave/contracts';
import type { StoredRecord } from '@conclave/ports';
import { logOf, recordsOf, replayOf, withData } from './__fixtures__/recorded-runs.js';
import { sameAsRecorded } from './drive-run.js';
import { readRuns } from './read-runs.js';
import { replayedText } from './replayed-text.js';

const records = await recordsOf('agentic');
const { runId } = records[0]!.event!;
const whole = await replayOf(records);
const isCall = ({ event }: StoredRecord): boolean => event?.type === 'CallRecorded';
const firstCall = records.find(isCall)!.event!.data as CallRecorded['data'];
// Without the reply of the first call, the look at the question, it is unknown whether the planner was asked.
const undriven = whole.driven.calls - 1;
const changeCalls = (step: RegExp, change: (data: CallRecorded['data']) => Partial<CallRecorded['data']>): readonly StoredRecord[] =>
  records.map((record) =>
    isCall(record) && step.test((record.event!.data as CallRecorded['data']).step)
      ? withData(record, (data: CallRecorded['data']) => ({ ...data, ...change(data) }))
      : record,
  );

describe('a log that delivers at least once', () => {
  it('is replayed the same with every record twice and in another order', async () => {
    expect(await replayOf([...records, ...records])).toEqual(whole);
    expect(await replayOf([...records].reverse())).toEqual(whole);
  });

  it('is answered from the last attempt of a call', async () => {
    const first = records.find(isCall)!;
    const superseded = withData(first, (data: CallRecorded['data']) => ({
      ...data,
      reply: { content: 'Lost.', reasoning: '', finishReason: 'stop' },
    }));
    const later = changeCalls(new RegExp(`^${(first.event!.data as CallRecorded['data']).step}$`), () => ({ attempt: 2 }));
    expect(await replayOf([superseded, ...later])).toMatchObject({ first: null, lacks: [] });
    expect(await replayOf([...later, superseded])).toMatchObject({ first: null, lacks: [] });
  });

  it('is incomplete if two records of one attempt contradict each other', async () => {
    const first = records.find(isCall)!;
    const other = withData(first, (data: CallRecorded['data']) => ({ ...data, durationMs: data.durationMs + 1 }));
    const run = await replayOf([...records, other]);
    expect(run.lacks).toEqual([`two records of the call ${firstCall.step} contradict each other`]);
    expect(sameAsRecorded(run)).toBe(false);
  });
});

describe('an audit with records of more than runs', () => {
  it('has no run for changed settings', async () => {
    const changed = withData(records.find(isCall)!, () => ({ setting: 'prompts/expert', version: 1 }));
    const event = { ...changed.event!, type: 'SettingChanged', id: 'setting/prompts/expert/1', runId: 'settings' } as typeof changed.event;
    const read: string[] = [];
    await readRuns(logOf([...records, { ...changed, event }]), null, async (recording) => void read.push(recording.runId));
    expect(read).toEqual([runId]);
  });

  it('has no run for a call that a gateway made for a client directly', async () => {
    const id = 'run_direct';
    const caller = { tenant: 'default', actor: 'anonymous', role: 'user', detail: 'redacted', keyless: true };
    const call = withData(records.find(isCall)!, (data: CallRecorded['data']) => ({ ...data, step: `${id}/direct/call/0`, caller }));
    const direct = {
      ...call,
      headers: { ...call.headers, ce_runid: id },
      event: { ...call.event!, runId: id, key: id, id: `${id}/direct` },
    };
    const read: string[] = [];
    await readRuns(logOf([...records, direct as StoredRecord]), null, async (recording) => void read.push(recording.runId));
    expect(read).toEqual([runId]);
  });

  it('is whole with a call to the tool model, which a gateway made before the run', async () => {
    const caller = { tenant: 'default', actor: 'anonymous', role: 'user', detail: 'redacted', keyless: true };
    const step = `${runId}/tools/abc123/call/0`;
    const asked = withData(records.find(isCall)!, (data: CallRecorded['data']) => ({ ...data, step, purpose: 'tools', caller }));
    const own = withData(records.find(isCall)!, (data: CallRecorded['data']) => ({ ...data, step }));
    expect(await replayOf([...records, asked])).toEqual(whole);
    expect((await replayOf([...records, own])).lacks).toEqual([expect.stringContaining(`requested ${runId}/tools/abc123 is not recorded`)]);
  });
});

describe('a log whose records have partly expired', () => {
  it('can still be driven completely from the audit alone, which is kept longest', async () => {
    const audit = records.filter(({ topic }) => topic === 'audit');
    const run = await replayOf(audit);
    expect(run).toMatchObject({ first: null, lacks: [], driven: whole.driven, ended: true });
    expect(run.hash).toBe(whole.hash);
  });

  it('is incomplete without its first audit records, and drives what is left', async () => {
    const first = records.findIndex(({ event }) => event?.type === 'StepRecorded');
    const run = await replayOf(records.filter((_, at) => at !== first));
    expect(run).toMatchObject({ first: null, lacks: ['step 1 missing'], driven: { steps: 0, calls: whole.driven.calls } });
    expect(replayedText(run)).toContain('the recording is incomplete; what could be replayed decides the same: 0 steps, 10 calls');
  });

  it('is incomplete without its last step, if the end of the run is on the log', async () => {
    const last = records.findLastIndex(({ event }) => event?.type === 'StepRecorded');
    const left = records.filter((_, at) => at !== last);
    const run = await replayOf(left);
    expect(run).toMatchObject({ first: null, lacks: ['the run has ended, but the step in which it did is not recorded'], ended: true });
    expect(sameAsRecorded(run)).toBe(false);
    const open = await replayOf(left.filter(({ event }) => event?.type !== 'RunCompleted'));
    expect(open).toMatchObject({ lacks: [], ended: false });
  });

  it('lacks the call whose record is gone', async () => {
    const run = await replayOf(records.filter((record) => !isCall(record) || !JSON.stringify(record.event).includes('judge.gap/call/0')));
    expect(run.first).toMatchObject({ kind: 'unrecorded', step: `${runId}/0/judge.gap/call/0`, purpose: 'judge.gap' });
  });
});

describe('a run recorded with store_prompts', () => {
  const forgotten = { request: null, reply: null };

  it('hash: its first prompts are compared by hash, and it is incomplete because replies are not stored', async () => {
    const run = await replayOf(changeCalls(/./, () => forgotten));
    expect(run).toMatchObject({ first: null, driven: { calls: undriven, outcomes: 0 } });
    expect(run.lacks).toEqual([`replies are not stored: ${undriven} of its calls cannot be replayed further (${firstCall.step})`]);
    expect(sameAsRecorded(run)).toBe(false);
    const other = await replayOf(changeCalls(/judge\.gap/, () => ({ ...forgotten, requestHash: 'f'.repeat(64) })));
    expect(other.first).toMatchObject({ kind: 'request', step: `${runId}/0/judge.gap/call/0`, request: { line: null, members: [] } });
    expect(replayedText(other)).toContain('recorded  only its hash (store_prompts: hash)');
  });

  it('none: nothing about its calls is compared, and the verdict says so', async () => {
    const run = await replayOf(changeCalls(/./, () => ({ ...forgotten, requestHash: '' })));
    expect(run.lacks).toEqual([
      `neither prompt nor hash of ${undriven} of its calls is stored (${firstCall.step})`,
      `replies are not stored: ${undriven} of its calls cannot be replayed further (${firstCall.step})`,
    ]);
  });
});

describe('a recorded request that is no longer made', () => {
  it('is named with the members that differ', async () => {
    const run = await replayOf(changeCalls(/plan\/call\/0$/, ({ request }) => ({ request: { ...(request as object), temperature: 0.7 } })));
    expect(run.first).toMatchObject({ kind: 'request', request: { members: [{ path: 'temperature', recorded: '0.7', now: '0' }] } });
    expect(replayedText(run)).toContain('\n  member    temperature\n  recorded  0.7\n  now       0\n');
  });

  it('is reported if a call is left out today', async () => {
    const call = records.find((record) => JSON.stringify(record.event).includes('judge.gap/call/0') && isCall(record))!;
    const spare = withData(call, (data: CallRecorded['data']) => ({ ...data, step: `${runId}/0/judge.gap/call/1` }));
    expect((await replayOf([...records, spare])).first).toMatchObject({ kind: 'unmade', step: `${runId}/0/judge.gap/call/1` });
  });

  it('is a call to a tool with another query', async () => {
    const run = await replayOf(
      changeCalls(/0\/r1\/call\/0$/, ({ request }) => ({ request: { ...(request as object), query: 'something else' } })),
    );
    expect(run.first).toMatchObject({ kind: 'request', request: { members: [{ path: 'query', recorded: 'something else' }] } });
  });
});

describe('reading many runs', () => {
  const renamed = (to: string): readonly StoredRecord[] =>
    records.map((record) => ({
      ...record,
      headers: { ...record.headers, ce_runid: to },
      event: JSON.parse(JSON.stringify(record.event).replaceAll(runId, to)) as StoredRecord['event'],
    }));
  const ids = ['run_aaaaaaaa', 'run_bbbbbbbb', 'run_cccccccc', 'run_dddddddd', 'run_eeeeeeee'];
  const log = logOf(ids.flatMap(renamed));

  it('keeps only a limited number in memory, and passes on each of them whole and once', async () => {
    const size = records.reduce((sum, { raw }) => sum + raw.length, 0);
    for (const [limit, passes] of [
      [size * 10, 1],
      [size * 2, 3],
      [1, 5],
    ] as const) {
      const seen: string[] = [];
      const read = await readRuns(
        log,
        null,
        async (run) => {
          seen.push(run.runId);
          expect(run.bytes).toBe(size);
          expect(run.steps).toHaveLength(whole.driven.steps);
        },
        limit,
      );
      expect(seen.sort()).toEqual(ids);
      expect(read.passes).toBe(passes);
    }
  });

  it('reads one run alone if one is requested', async () => {
    const seen: string[] = [];
    await readRuns(log, ids[3]!, async (run) => void seen.push(run.runId));
    expect(seen).toEqual([ids[3]]);
  });
});

describe('results that no capability made', () => {
  const isOf = (local: string, type: string, { event }: StoredRecord): boolean =>
    event?.type === type && (event.data as { taskId?: string }).taskId === `${runId}/${local}`;
  const failed = (status: 'error' | 'timeout' | 'cancelled', code: string, message: string): Partial<ResultReady['data']> => ({
    status,
    output: null,
    confidence: null,
    sources: [],
    model: null,
    usage: noUsage,
    attempt: 0,
    failure: { code, message, retriable: false },
  });
  /** An expert's task without its calls, and with this result. */
  const taskWith = (change: Partial<ResultReady['data']>): readonly StoredRecord[] => [
    ...records.filter(isCall).slice(0, 1),
    ...records.filter((record) => isOf('0/x1', 'TaskDispatched', record)),
    ...records
      .filter((record) => isOf('0/x1', 'ResultReady', record))
      .map((record) => withData(record, (data: ResultReady['data']) => ({ ...data, gaps: [], refer: [], ...change }))),
  ];

  it.each([
    ['because its time to start was over', failed('timeout', 'TASK_EXPIRED', 'The task was not started before its deadline.')],
    ['because it was cancelled before it started', failed('cancelled', 'CALL_CANCELLED', 'The task was cancelled before it started.')],
  ])('are the same %s', async (_why, result) => {
    expect(await replayOf(taskWith(result))).toMatchObject({ first: null, driven: { outcomes: 1 } });
    const other = await replayOf(taskWith({ ...result, failure: { ...result.failure!, message: 'Other words.' } }));
    expect(other.first).toMatchObject({ kind: 'outcome', id: `${runId}/0/x1/result`, members: [{ path: 'failure.message' }] });
  });

  it('differ if no call was recorded although there was no reason to make none', async () => {
    const run = await replayOf(taskWith(failed('error', 'ALLOWANCE_EXHAUSTED', 'No model call is left for this.')));
    expect(run.first).toMatchObject({ kind: 'unrecorded', step: `${runId}/0/x1/call/0` });
  });

  it('of a dead letter are not a decision, even if a worker sent another one later', async () => {
    const dead = records.filter((record) => isOf('0/r1', 'ResultReady', record));
    const aside = failed('error', 'RECORD_DEAD', 'The record of this task was put aside.');
    const letters = dead.map((record) => withData(record, (data: ResultReady['data']) => ({ ...data, ...aside })));
    expect(letters).toHaveLength(1);
    expect(await replayOf([...letters, ...records])).toMatchObject({ first: null, lacks: [], driven: whole.driven });
  });
});
