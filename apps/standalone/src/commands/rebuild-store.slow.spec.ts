import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sampleQuestion } from '@conclave/adapter-demo';
import { openSqlite, type Sqlite } from '@conclave/adapter-sqlite';
import {
  addUsage,
  type CallRecorded,
  CommandIssued,
  commandId,
  erasedId,
  identityTopic,
  makeEvent,
  ownEvent,
  RunErased,
  topicsFor,
  type Event,
  type StepRecorded,
} from '@conclave/contracts';
import { step, type EngineInput, type RunState } from '@conclave/loop';
import { loadConfiguration } from '@conclave/platform';
import { MemoryBlobs, MemoryBroker } from '@conclave/ports';
import { chainHash, stateHash } from '@conclave/service-merger';
import { expertPrompts, strategyOf } from '@conclave/strategies';
import { rebuildStore, replay, type Recovered } from '@conclave/replay';
import { ask } from './ask.js';

const home = mkdtempSync(join(tmpdir(), 'conclave-rebuild-'));
const topics = topicsFor().flatMap(({ name }) => (name === identityTopic ? [] : [name]));
const sink = { write: () => undefined };
const mark = { storeId: 'lost', generation: 5 };
const signal = new AbortController().signal;

/** Every event of one complete run, in order of creation. */
let events: readonly Event[];
let runId: string;
let steps: readonly StepRecorded[];
beforeAll(async () => {
  const loaded = loadConfiguration({ CONCLAVE_HOME: home, PORT: '9' }, home, { categories: Object.keys(expertPrompts) });
  const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
  await ask({ loaded, question: sampleQuestion(), model: 'conclave', answer: sink, progress: sink, localServers, signal });
  const sqlite = openSqlite({ home, processId: 'test', durability: 'process', prunes: false });
  const found: Event[] = [];
  for (const topic of topics) for await (const { event } of sqlite.log.read(topic)) if (event) found.push(event);
  await sqlite.close();
  events = found.sort((a, b) => a.time - b.time);
  runId = events.find(({ type }) => type === 'PlanRequested')!.runId;
  steps = events.filter((event): event is StepRecorded => event.type === 'StepRecorded').sort((a, b) => a.data.version - b.data.version);
}, 60_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

let broker: MemoryBroker;
let store: Sqlite;
beforeEach(() => {
  broker = new MemoryBroker({ blobs: new MemoryBlobs() });
  store = openSqlite({ home: ':memory:', processId: 'recover', durability: 'process', prunes: false });
});
afterEach(() => store.close());

const now = () => Math.max(...events.map(({ time }) => time)) + 1_000;
const rebuild = async (aborting = signal): Promise<Recovered> =>
  rebuildStore({
    ...{ log: broker.connect(), topics, recovery: store.recovery, mark, now: now(), retentionMs: 60_000, signal: aborting },
    strategyOf,
  });
const rebuilt = async (on: readonly Event[]): Promise<Recovered> => {
  await broker.connect().publish(on);
  return rebuild();
};
/** The log up to step n, with all outputs of the steps before it. */
const until = (n: number): readonly Event[] => {
  const outputs = new Set(steps.slice(0, n).flatMap(({ data }) => data.outputs.map(({ id }) => id)));
  const inputs = new Set(steps.slice(0, n).map(({ data }) => data.input.id));
  return events.filter((event) => {
    if (event.type === 'StepRecorded') return (event as StepRecorded).data.version <= n;
    return outputs.has(event.id) || inputs.has(event.id) || event.type === 'CallRecorded';
  });
};
const without = (...types: string[]) => events.filter(({ type }) => !types.includes(type));
const read = () => store.state.runs.read<RunState>(runId);
const abortsOf = async (): Promise<CommandIssued[]> => {
  const found: CommandIssued[] = [];
  for await (const { event } of broker.connect().read('run.commands')) found.push(event as CommandIssued);
  return found.filter(({ data }) => data.command.name === 'abort');
};

describe('a store that is rebuilt from the log', () => {
  it('restores a run, at any phase, to the state after its last step', async () => {
    expect(steps.length).toBeGreaterThan(5);
    const states: RunState[] = [];
    const onStep = (_version: number, { next }: { readonly next: RunState }): void => void states.push(JSON.parse(JSON.stringify(next)));
    const recorded = steps.map(({ data }) => data);
    expect(replay(runId, recorded, { strategyOf, chainHash, stateHash, onStep })).toEqual({
      kind: 'same',
      steps: steps.length,
      ended: true,
    });
    for (let n = 1; n < steps.length; n += 1) {
      await store.close();
      store = openSqlite({ home: ':memory:', processId: 'recover', durability: 'process', prunes: false });
      broker = new MemoryBroker();
      const done = await rebuilt(until(n));
      expect(done).toMatchObject({ open: 1, ended: 0, aborted: [], gaps: [], withoutReply: [] });
      const run = await read();
      expect(run).toMatchObject({ version: n, terminal: false });
      expect(run!.state).toEqual(states[n - 1]);
      expect(done.timers).toBe(1);
      for (const { data } of steps.slice(0, n)) {
        const again = await store.state.runs.commit(
          events.find(({ id }) => id === data.input.id)!,
          () => {
            throw new Error(`${data.input.id} was taken already.`);
          },
        );
        expect(again.outputs.map(({ id }) => id)).toEqual([...data.outputs.map(({ id }) => id), `${runId}/step/${data.version}`]);
      }
    }
  }, 60_000);

  it('keeps an ended run as a tombstone with its answer', async () => {
    expect(await rebuilt(events)).toMatchObject({ open: 0, ended: 1, aborted: [] });
    const { state, terminal } = (await read())!;
    expect(terminal).toBe(true);
    expect(state.answer!.text).not.toBe('');
    expect(await store.state.timers.due(10)).toEqual([]);
    expect((await store.stream.read(runId, 0, 500)).ended).toBe(true);
  });

  it('counts a call that was recorded after the end while the calls before it are still being written', async () => {
    const recorded = events.filter((event) => event.type === 'CallRecorded');
    const last = recorded.at(-1)!;
    await broker.connect().publish([...events.filter((event) => event !== last), last]);
    const slow: Sqlite['recovery'] = Object.assign(Object.create(store.recovery), {
      calls: async (...args: Parameters<Sqlite['recovery']['calls']>) => {
        const written = await store.recovery.calls(...args);
        if (written > 1) await new Promise((resolve) => setTimeout(resolve, 100));
        return written;
      },
    });
    const options = { log: broker.connect(), topics, recovery: slow, mark, now: now(), retentionMs: 60_000, signal, strategyOf };
    expect(await rebuildStore(options)).toMatchObject({ ended: 1, calls: recorded.length });
  });

  it('answers every finished call as the journal did', async () => {
    const { calls } = await rebuilt(events);
    const recorded = events.filter((event): event is CallRecorded => event.type === 'CallRecorded');
    expect(calls).toBe(recorded.length);
    const lost = openSqlite({ home, processId: 'test', durability: 'process', prunes: false });
    const answerOf = async ({ state }: Sqlite, step: string) => {
      const begun = await state.journal.begin({ runId, step, nonce: step, owner: 'somebody' });
      if (begun.kind !== 'done' || !begun.outcome.ok) throw new Error(`${step} has no answer.`);
      return { attempt: begun.attempt, reply: begun.outcome.reply };
    };
    for (const { data } of recorded) expect(await answerOf(store, data.step)).toEqual(await answerOf(lost, data.step));
    await lost.close();
  });

  it('restores no call without a journal', async () => {
    const direct = events.map((event): Event => (event.type === 'CallRecorded' ? { ...event, source: 'gateway' } : event));
    expect(await rebuilt(direct)).toMatchObject({ ended: 1, calls: 0 });
  });

  it('restores the usage of every recorded call, whatever is stored of its reply, and counts nothing twice', async () => {
    const records = events.filter((event): event is CallRecorded => event.type === 'CallRecorded');
    const spent = records.map(({ data }) => data.usage).reduce(addUsage);
    expect(spent.calls).toBeGreaterThan(3);
    const lost = openSqlite({ home, processId: 'test', durability: 'process', prunes: false });
    expect(await lost.state.usage.ofRun(runId)).toEqual(spent);
    await lost.close();
    const caller = { tenant: 'acme', actor: 'direct' };
    const direct = records.slice(0, 1).map(({ data, ...event }): CallRecorded => {
      const id = 'run_direct0000';
      return { ...event, id: `${id}/direct/1`, runId: id, source: 'gateway', data: { ...data, step: `${id}/direct`, caller } };
    });
    const hidden = records.map((event): CallRecorded => ({ ...event, data: { ...event.data, request: null, reply: null } }));
    await rebuilt([...without('CallRecorded'), ...hidden, ...direct]);
    await rebuild();
    expect(await store.state.usage.ofRun(runId)).toEqual(spent);
    const { tenant, actor } = (await store.state.runs.header(runId))!.data.caller;
    expect(await store.state.usage.ofAccount({ tenant, actor, period: 'month', at: now() })).toEqual(spent);
    expect(await store.state.usage.ofAccount({ ...caller, period: 'month', at: now() })).toEqual(direct[0]!.data.usage);
  });

  it('restores nothing of a run that was deleted, although its records stay on the log', async () => {
    const [tenant, erasedAt] = ['default', now() - 500];
    const at = { id: erasedId(runId), runId, source: 'gateway', time: erasedAt } as const;
    await rebuilt([...events, ownEvent(RunErased, at, { tenant, actor: 'ann', requestedAt: 1, erasedAt })]);
    const { runs } = store.state;
    expect(await runs.erased(runId)).toEqual({ runId, tenant, requestedAt: 1, erasedAt });
    expect([await runs.header(runId), await read(), await runs.list({ tenant, limit: 5 })]).toEqual([null, null, []]);
    expect((await store.stream.read(runId, 0, 10)).entries).toEqual([]);
    expect(await rebuild()).toMatchObject({ open: 0, aborted: [] });
    expect(await read()).toBeNull();
  });

  it('forgets runs that ended too long ago', async () => {
    const completed = events.find(({ type }) => type === 'RunCompleted')!;
    await broker.connect().publish(events);
    const options = { log: broker.connect(), topics, recovery: store.recovery, mark, signal, strategyOf };
    expect(await rebuildStore({ ...options, retentionMs: 1_000, now: completed.time + 5_000 })).toMatchObject({ ended: 0, expired: 1 });
    expect(await read()).toBeNull();
  });

  it('restores a run from its request alone, so that it is published again', async () => {
    expect(await rebuilt(events.filter(({ type }) => type === 'PlanRequested'))).toMatchObject({ open: 1, requested: 1, aborted: [] });
    expect((await store.state.runs.unpublished(0, 5)).map((header) => header.runId)).toEqual([runId]);
  });

  it('recognises an end by the terminal event, whichever steps are missing', async () => {
    expect(await rebuilt(without('StepRecorded'))).toMatchObject({ open: 0, ended: 1, aborted: [] });
    const { state } = (await read())!;
    const end = events.find(({ type }) => type === 'RunCompleted')!.data as { answer: string };
    expect(state).toMatchObject({ endedAt: expect.any(Number), request: { goal: sampleQuestion() }, answer: { text: end.answer } });
  });

  it('continues without a step that was never published, under versions that were not used before', async () => {
    const n = steps.length - 2;
    const gap = steps[n - 2]!.data.version;
    const done = await rebuilt(until(n).filter(({ id }) => id !== `${runId}/step/${gap}`));
    expect(done).toMatchObject({ open: 1, gaps: [{ runId, versions: [gap] }], aborted: [] });
    expect(await read()).toMatchObject({ version: n, terminal: false });
  });

  it('begins a run from its request when its first step was never published', async () => {
    const done = await rebuilt(until(2).filter(({ id }) => id !== `${runId}/step/1`));
    expect(done).toMatchObject({ open: 1, gaps: [{ runId, versions: [1] }], aborted: [], timers: 1 });
    const { version, state } = (await read())!;
    expect(version).toBe(2);
    expect(Object.keys(state.tasks).length).toBeGreaterThan(0);
  });

  it('accepts a result again when only an unpublished step knew its task', async () => {
    const plan = steps.find(({ data }) => data.input.type === 'PlanCreated')!;
    const result = steps.find(({ data }) => data.input.type === 'ResultReady')!;
    const done = await rebuilt(until(result.data.version).filter(({ id }) => id !== plan.id));
    expect(done).toMatchObject({ open: 1, gaps: [{ runId, versions: [plan.data.version] }], aborted: [] });
    const again = async ({ data }: StepRecorded): Promise<string[]> => {
      const event = events.find(({ id }) => id === data.input.id) as EngineInput;
      const take = (run: RunState | null, at: { readonly now: number }) => {
        const { next, outputs } = step(run, event, at.now, strategyOf)!;
        return { next, outputs, entries: [], arm: [], disarm: [], cancels: [], terminal: false, status: '' };
      };
      return (await store.state.runs.commit<RunState>(event, take)).outputs.map(({ id }) => id);
    };
    await expect(again(result)).rejects.toThrow('came before its task was known');
    expect(await again(plan)).toEqual(plan.data.outputs.map(({ id }) => id));
    expect((await again(result)).length).toBe(result.data.outputs.length);
  });

  it('flags a run whose cancel was published, and numbers commands above it', async () => {
    const cancel = makeEvent(
      CommandIssued,
      { id: commandId(runId, 4), runId, source: 'gateway', time: now() },
      { seq: 4, actor: 'me', issuedAt: now(), command: { name: 'cancel', reason: 'why' } },
    );
    await rebuilt([...until(2), cancel]);
    expect(await store.state.runs.cancelled([runId])).toEqual(new Set([runId]));
    expect(await store.state.runs.nextCommandSeq(runId)).toBeGreaterThan(100);
  });

  it('ends a run whose steps differ under this version, and says why', async () => {
    const changed = until(3).map((event) =>
      event.id === `${runId}/step/2`
        ? { ...event, data: { ...(event as StepRecorded).data, outputs: [{ id: 'other', type: 'GapDetected' }] } }
        : event,
    );
    const { aborted } = await rebuilt(changed);
    expect(aborted).toEqual([{ runId, fault: expect.stringContaining('step 2 returned other when it was recorded') }]);
    expect(await abortsOf()).toMatchObject([{ runId, data: { actor: 'recover' } }]);
    expect(await read()).toMatchObject({ version: 3, terminal: false });
  });

  it('ends a run whose request body is lost, and lets no record wait for it', async () => {
    const request = events.find(({ type }) => type === 'PlanRequested')!;
    const large = { ...request, data: { ...(request.data as object), system: 'x'.repeat(80_000) } };
    const log = broker.connect();
    await log.publish([large]);
    const { raw, headers } = broker.records('plan.requested')[0]!;
    broker = new MemoryBroker();
    await broker.connect().publishRaw({ topic: 'plan.requested', key: runId, headers, raw });
    expect(await rebuild()).toMatchObject({ open: 1, bodies: 1, aborted: [{ runId, fault: 'its request can no longer be read' }] });
    expect(await abortsOf()).toHaveLength(1);
    expect(await store.state.runs.header(runId)).toMatchObject({ data: { goal: expect.stringContaining('lost') } });
    await expect(store.blobs.get(JSON.parse(raw!.toString()) as { sha256: string; bytes: number })).rejects.toMatchObject({
      code: 'BLOB_CORRUPT',
    });
  });

  it('reports the calls that it cannot answer when prompts and replies were not stored', async () => {
    const bare = until(steps.length - 1).map((event) =>
      event.type === 'CallRecorded' ? { ...event, data: { ...(event as CallRecorded).data, request: null, reply: null } } : event,
    );
    const { calls, withoutReply } = await rebuilt(bare);
    const recorded = events.filter(({ type }) => type === 'CallRecorded').length;
    expect([calls, withoutReply[0]!.steps.length]).toEqual([0, recorded]);
  });

  it('is the same when it is rebuilt again, also after an interruption', async () => {
    const aborting = new AbortController();
    await broker.connect().publish(until(4));
    aborting.abort(new Error('enough'));
    await expect(rebuild(aborting.signal)).rejects.toThrow('enough');
    const look = async () => [
      await read(),
      await store.stream.read(runId, 0, 500),
      await store.state.timers.due(99),
      await store.state.runs.openCount(),
    ];
    await rebuild();
    const once = await look();
    expect(await rebuild()).toMatchObject({ open: 1, kept: 1, calls: 0 });
    expect(await look()).toEqual(once);
  });
});
