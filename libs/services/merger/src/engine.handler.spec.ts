import { describe, expect, it } from '@jest/globals';
import {
  childRunId,
  CommandIssued,
  commandId,
  Failure,
  makeEvent,
  type Event,
  type PlanRequested,
  type Template,
} from '@conclave/contracts';
import type { RunState } from '@conclave/loop';
import { type Logger, noProbe, silentLogger } from '@conclave/platform';
import { encodeEvent, MemoryBlobs, MemoryStores, type StateStore, type Step } from '@conclave/ports';
import { counting } from '@conclave/ports/suites';
import { PermitKey } from '@conclave/calls';
import { EngineHandler } from './engine.handler.js';

const permitKey = new PermitKey(new MemoryStores().connect('keys').state.once);

const runId = 'run_00000001';
const template = {
  ...{ id: 't', version: 'v', strategy: 'agentic', gap_check: 'evidence', max_agentic_rounds: 1, planning_timeout_s: 20 },
  limits: { wall_time_s: 60, model_calls: 40, tokens: 100_000 },
} as unknown as Template;
const header = {
  type: 'PlanRequested',
  id: runId,
  runId,
  time: 1,
  data: {
    goal: 'What?',
    conversation: [],
    system: null,
    template,
    limits: template.limits,
    caller: { tenant: 'default', actor: 'me' },
    answer: {},
    origin: 'runs',
    requestedAt: 1,
  },
} as unknown as PlanRequested;
const command = (name: 'abort' | 'cancel' | 'pause') =>
  makeEvent(
    CommandIssued,
    { id: commandId(runId, 1), runId, source: 'transport', time: 2 },
    { seq: 1, actor: 'transport', issuedAt: 2, command: name === 'pause' ? { name } : { name, reason: 'why' } },
  );

function engine(
  commit?: () => Promise<never>,
  now = 3,
  before: RunState | null = null,
  logger: Pick<Logger, 'error' | 'warn'> = silentLogger,
) {
  let stored: RunState | null = before;
  const state = {
    now: () => Promise.resolve(now),
    runs: {
      header: (id: string) => Promise.resolve(id === runId ? header : null),
      nextCommandSeq: () => Promise.resolve(7),
      commit:
        commit ??
        (async (_event: Event, step: (current: RunState | null, at: { now: number; version: number }) => Step<RunState> | null) => {
          const taken = step(stored, { now, version: 0 });
          stored = taken?.next ?? stored;
          return { outputs: taken?.outputs ?? [], repeated: false, state: stored };
        }),
    },
  } as unknown as StateStore;
  return new EngineHandler(state, noProbe, permitKey, logger);
}

describe('a terminal event that is published twice', () => {
  it('has one id and one content, whichever process publishes it again: its input was applied once', async () => {
    const stores = new MemoryStores();
    const first = new EngineHandler(stores.connect('first').state, noProbe, permitKey, silentLogger);
    await stores.runs.accept({ header, retryKey: null, openLimit: 5 });
    const heir = new EngineHandler(stores.connect('heir').state, noProbe, permitKey, silentLogger);
    const ends = [await first.onInput(command('abort')), await heir.onInput(command('abort'))].map((outputs) =>
      (outputs as readonly Event[]).find(({ type }) => type === 'RunCompleted')!,
    );
    expect(ends[1]).toEqual(ends[0]);
    const ids = await Promise.all(ends.map(async (end) => (await encodeEvent(end, new MemoryBlobs())).headers['ce_id']));
    expect(ids).toEqual([`${runId}/completed`, `${runId}/completed`]);
  });
});

describe('the handler of the engine', () => {
  it('ends a run whose stored state cannot be used, and logs the error that its user is not shown', async () => {
    const told: unknown[] = [];
    const logger = { error: (message: string, fields: unknown) => void told.push([message, fields]), warn: () => undefined };
    const damaged = { runId, request: header.data, strategy: 'agentic', endedAt: null, last: 2, tasks: { a: 1 } } as unknown as RunState;
    const outputs = (await engine(undefined, 3, damaged, logger).onInput(command('abort'))) as readonly Event[];
    expect(outputs.map(({ type }) => type)).toEqual(['RunCompleted', 'StepRecorded']);
    expect(outputs[0]).toMatchObject({
      data: { outcome: 'failed', reason: expect.stringContaining('stored by another version of Conclave') },
    });
    expect(told).toMatchObject([[expect.stringContaining('cannot be used'), { run: runId, error: expect.any(TypeError) }]]);
  });

  it('ends a run whose request could never be applied, using its header', async () => {
    expect(await engine().onInput(command('abort'))).toMatchObject([
      { type: 'RunCompleted', data: { outcome: 'failed', question: 'What?', failure: { code: 'RECORD_DEAD' } } },
      { type: 'StepRecorded' },
    ]);
  });

  it('ends a run whose command is a dead letter, but does not abort an abort', async () => {
    expect(await engine().onDeadCommand({ event: command('cancel'), reason: 'failed' })).toMatchObject([
      { type: 'CommandIssued', data: { seq: 7, command: { name: 'abort' } } },
    ]);
    expect(await engine().onDeadCommand({ event: command('abort'), reason: 'failed' })).toEqual([]);
  });

  it('begins a run from its header when a command arrived first, and publishes its request, which the sweep considers published', async () => {
    expect(await engine().onInput(command('cancel'))).toMatchObject([
      { type: 'RunCompleted', data: { outcome: 'cancelled' } },
      { type: 'StepRecorded' },
    ]);
    const [request, recorded, ...more] = (await engine().onInput(command('pause'))) as readonly Event[];
    expect(request).toMatchObject({ type: 'PlanRequested', id: runId });
    expect(recorded).toMatchObject({ type: 'StepRecorded', data: { request: { id: runId } } });
    expect(more).toEqual([]);
  });

  it('postpones for a minute inputs of a run that was never accepted', async () => {
    const unknown = { ...command('cancel'), runId: 'run_unknown0' };
    expect(await engine().onInput(unknown)).toEqual({ deferMs: expect.any(Number) });
    await expect(engine(undefined, 70_000).onInput(unknown)).rejects.toThrow('came before its run had begun');
  });

  it('lets a run wait a minute for a process that has its strategy, and then says what is missing', async () => {
    let now = 100_000;
    const request = { ...header, time: now, data: { ...header.data, template: { ...template, strategy: 'own-loop' } } } as PlanRequested;
    const runs = {
      header: () => Promise.resolve(request),
      nextCommandSeq: () => Promise.resolve(7),
      commit: (_event: Event, decide: (current: null, at: object) => unknown) => Promise.resolve(decide(null, { now, version: 0 })),
    };
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (...line: unknown[]) => void warned.push(line) };
    const state = { now: () => Promise.resolve(now), runs } as unknown as StateStore;
    const handler = new EngineHandler(state, noProbe, permitKey, logger);
    for (now of [100_000, 159_000]) expect(await handler.onInput(request)).toEqual({ deferMs: expect.any(Number) });
    expect(warned).toMatchObject([[expect.stringContaining('does not have'), { waitsS: 60, error: { strategy: 'own-loop' } }]]);
    now = 160_000;
    const missing = 'There is no strategy "own-loop". If an extension provides it, name its module under `extensions`';
    await expect(handler.onInput(request)).rejects.toThrow(missing);
    expect(await handler.onDead({ event: request, reason: 'failed' })).toMatchObject([
      { type: 'CommandIssued', data: { command: { name: 'abort', reason: expect.stringContaining(missing) } } },
    ]);
  });

  describe('of a child run whose task was cancelled', () => {
    const task = `${runId}/0/t1`;
    const child = childRunId(task);
    const request = { ...header, id: child, runId: child, data: { ...header.data, requestedAt: Date.now() } } as PlanRequested;
    const cancel = makeEvent(
      CommandIssued,
      { id: `${task}/cancel`, runId: child, source: 'merger', time: 2 },
      { seq: 0, actor: 'engine', issuedAt: 2, command: { name: 'cancel', reason: 'why' } },
    );
    /** A store in which a step of the parent has flagged the task, and a handler over it. */
    async function flagged(cancels: readonly string[] = [task]) {
      const { state } = new MemoryStores().connect('merger');
      await state.runs.accept({ header, retryKey: null, openLimit: 5 });
      const change = { ...counting(header)(null, { now: 1, version: 0 })!, cancels };
      await state.runs.commit(header, () => change);
      return { state, handler: new EngineHandler(state, noProbe, permitKey, silentLogger) };
    }
    const accept = ({ runs }: StateStore) => runs.accept({ header: request, retryKey: null, openLimit: 5 });

    it('does not hold up its group with the cancel of a run that was not accepted', async () => {
      const { handler } = await flagged();
      expect(await handler.onInput(cancel)).toEqual([]);
    });

    it('cancels a run that is accepted after its cancel was dropped, once more if its request is delivered again', async () => {
      const { state, handler } = await flagged();
      await handler.onInput(cancel);
      await accept(state);
      const begun = (await handler.onInput(request)) as readonly Event[];
      const again = begun.at(-1) as CommandIssued;
      expect(again).toMatchObject({ type: 'CommandIssued', runId: child, data: { command: { name: 'cancel' } } });
      expect(((await handler.onInput(request)) as readonly Event[]).at(-1)?.id).toBe(again.id);
      expect(again.id).not.toBe(cancel.id);
      expect(await handler.onInput(again)).toMatchObject([{ type: 'RunCompleted', data: { outcome: 'cancelled' } }, {}, {}]);
    });

    it('cancels an accepted run at once, and no run whose task still waits for it', async () => {
      const early = await flagged();
      await accept(early.state);
      expect(await early.handler.onInput(cancel)).toMatchObject([{ type: 'RunCompleted', data: { outcome: 'cancelled' } }, {}, {}]);
      const waiting = await flagged([]);
      await accept(waiting.state);
      const begun = (await waiting.handler.onInput(request)) as readonly Event[];
      expect(begun.map(({ type }) => type)).not.toContain('CommandIssued');
    });
  });

  it('does not count contention for a run as a failure of the record', async () => {
    const busy = engine(() => Promise.reject(new Failure('COMMIT_CONFLICT')));
    expect(await busy.onInput(command('cancel'))).toEqual({ deferMs: expect.any(Number) });
    const broken = engine(() => Promise.reject(new Failure('STORE_UNAVAILABLE')));
    await expect(broken.onInput(command('cancel'))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});
