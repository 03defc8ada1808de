import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure, type Event } from '@conclave/contracts';
import { openPorts, type OpenedPorts } from '@conclave/host';
import { claimStores, loadConfiguration, openMetrics, openReadiness, overriding, silentLogger } from '@conclave/platform';
import { documentsChanged, documentsChangedSince } from '@conclave/ports';
import {
  acceptance,
  counting,
  namedOutput,
  newRunId,
  nthInput,
  sampleInput,
  sampleOutput,
  timer,
  until,
  type Tally,
} from '@conclave/ports/suites';
import { faultProbe } from './open-probe.js';
import type { ProtectionName } from './protections.js';
import { unprotectedStores } from './unprotected-ports.js';

let folder: string;
const opened: OpenedPorts[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-unprotected-'));
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  rmSync(folder, { recursive: true, force: true });
});
const file = (): string => join(folder, 'history.ndjson');

/** Opens the embedded stores of a process, with one protection or none switched off. */
async function open(without: ProtectionName | 'nothing' = 'nothing', history = true): Promise<OpenedPorts> {
  const off = without === 'nothing' ? {} : { WITHOUT_PROTECTION: without };
  const openProbe = faultProbe(history ? { HISTORY_FILE: file(), ...off } : {});
  const ports = await openPorts({
    loaded: loadConfiguration({}, folder),
    observers: {
      logger: silentLogger,
      metrics: openMetrics(),
      probe: openProbe({ processId: 'test', service: 'standalone', logger: silentLogger }),
      readiness: openReadiness(),
    },
    service: 'standalone',
    processId: 'test',
    localServers: { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 },
  });
  opened.push(ports);
  return ports;
}

interface Line {
  readonly actor: string;
  readonly op: string;
  readonly phase: string;
  readonly id: string;
  readonly process: string;
  readonly data: { readonly by: string; readonly events: readonly { readonly id: string; readonly topic: string }[] };
}
const lines = (op: string): Line[] =>
  readFileSync(file(), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.op === op);

const commit = (ports: OpenedPorts, event: Event, more: Parameters<typeof counting>[1] = {}) =>
  ports.state.runs.commit<Tally>(event, counting(event, more));

describe('the stores of a process', () => {
  it('are not changed if no protection is switched off', async () => {
    const ports = await open();
    const { log, state, stream } = ports;
    const same = unprotectedStores({ log, state, stream }, new Set());
    expect([same.log === log, same.state === state, same.stream === stream]).toEqual([true, true, true]);
  });

  it.each([
    ['nothing', 1, true],
    ['applied-ids', 2, false],
  ] as const)('without %s apply an event that arrives twice %d time(s)', async (without, count, repeated) => {
    const ports = await open(without);
    const event = nthInput(newRunId(), 1);
    await commit(ports, event);
    expect(await commit(ports, event)).toMatchObject({ repeated });
    expect(await ports.state.runs.read(event.runId)).toMatchObject({ state: { count, seen: Array(count).fill(event.id) } });
  });

  it.each([
    ['nothing', 'busy', 'done'],
    ['journal', 'begun', 'begun'],
  ] as const)(
    'without %s answer a second caller of a step with "%s", and a caller after its end with "%s"',
    async (without, second, third) => {
      const { journal, leases } = (await open(without)).state;
      const runId = newRunId();
      const step = `${runId}/0/t1/call/0`;
      await leases.renewProcess({ id: 'a', service: 'experts', classes: [], ttlMs: 10_000 });
      expect(await journal.begin({ runId, step, nonce: '1', owner: 'a' })).toMatchObject({ kind: 'begun', attempt: 1 });
      expect(await journal.started(`${runId}/0/t1`)).toBe(true);
      expect(await journal.begin({ runId, step, nonce: '2', owner: 'b' })).toMatchObject({ kind: second });
      expect(await journal.finish({ runId, step, attempt: 1 }, { ok: true, reply: 'paid' })).toBe('stored');
      expect(await journal.begin({ runId, step, nonce: '3', owner: 'b' })).toMatchObject({ kind: third });
    },
  );

  it.each([
    ['nothing', 'refused', 'refused', ['chunk', 'superseded', 'chunk']],
    ['attempts', 'stored', 'appended', ['chunk']],
  ] as const)(
    'without %s answer the writes of an owner thought dead with "%s" and "%s", and the stream shows which of its text counts',
    async (without, finished, appended, kinds) => {
      const { state, stream } = await open(without);
      const runId = newRunId();
      const task = `${runId}/0/t1`;
      const step = `${task}/call/0`;
      await state.journal.begin({ runId, step, nonce: '1', owner: 'dead' });
      await state.journal.begin({ runId, step, nonce: '2', owner: 'alive' });
      const chunk = (attempt: number) => stream.append(runId, [{ kind: 'chunk', taskId: task, attempt, offset: 0, text: 'blue' }]);
      await chunk(1);
      await chunk(2);
      expect(await chunk(1)).toBe(appended);
      expect(await state.journal.finish({ runId, step, attempt: 1 }, { ok: true, reply: 'late' })).toBe(finished);
      expect((await stream.read(runId, 0, 10)).entries.map(({ kind }) => kind)).toEqual(kinds);
    },
  );

  it.each([
    ['nothing', 1],
    ['timer-events', 0],
  ] as const)('without %s still hold %d due timer(s) if the process dies before it has published them', async (without, left) => {
    const ports = await open(without);
    await commit(ports, nthInput(newRunId(), 1), ({ now }) => ({ arm: [timer('wall', now - 1)] }));
    const [due] = await ports.state.timers.due(10);
    expect(due).toMatchObject({ name: 'wall' });
    expect(await ports.state.timers.due(10)).toHaveLength(left);
    await ports.state.timers.remove(due!);
    expect(await ports.state.timers.due(10)).toEqual([]);
  });

  it.each([
    ['nothing', 1],
    ['sweep', 0],
  ] as const)('without %s return %d accepted header(s) that were never published', async (without, found) => {
    const { runs } = (await open(without)).state;
    await runs.accept(acceptance());
    expect(await runs.unpublished(0, 10)).toHaveLength(found);
  });

  it.each(['nothing', 'erasure-marker'] as const)('without %s hide whether a run was erased only if that is off', async (without) => {
    const { runs } = (await open(without)).state;
    const runId = newRunId();
    await runs.erase({ runId, tenant: 'a', requestedAt: 1 });
    expect((await runs.erased(runId)) === null).toBe(without === 'erasure-marker');
  });

  it.each(['nothing', 'document-changes'] as const)('without %s hide that documents have changed only if that is off', async (without) => {
    const { caches } = (await open(without)).state;
    await documentsChanged(caches, 'a');
    expect(await documentsChangedSince(caches, 'a', 0)).toBe(without === 'nothing');
  });

  it.each([
    ['nothing', 1],
    ['deadline-check', 0],
  ] as const)('without %s report %d cancelled run(s) to workers', async (without, found) => {
    const { runs } = (await open(without)).state;
    const runId = newRunId();
    await runs.cancel(runId);
    expect((await runs.cancelled([runId])).size).toBe(found);
  });

  it.each([
    ['nothing', ['run_1']],
    ['deadline-check', []],
  ] as const)(
    'without %s return the flags %j to a worker that begins a call, if the store reads flags at that moment',
    async (without, found) => {
      const { log, state, stream } = await open();
      const looking = {
        begin: async ({ flags = [] }: Parameters<typeof state.journal.begin>[0]) => ({ kind: 'begun', attempt: 1, flagged: flags }),
      };
      const stores = { log, stream, state: { ...state, journal: { ...state.journal, ...looking } as unknown as typeof state.journal } };
      const { journal } = unprotectedStores(stores, new Set(without === 'nothing' ? [] : [without])).state;
      const begun = await journal.begin({ runId: 'run_1', step: 'run_1/0/x1/call/0', nonce: 'n', owner: 'p', flags: ['run_1'] });
      expect(begun).toMatchObject({ kind: 'begun', flagged: found });
    },
  );

  it.each([
    ['nothing', 0],
    ['durable-acks', 1],
  ] as const)('without %s acknowledge %d append(s) of a step before they are stored', async (without, early) => {
    const ports = await open(without);
    await commit(ports, nthInput(newRunId(), 1), { outputs: [namedOutput(newRunId(), 'a')] });
    // The write of a tick ends in a later turn of the event loop.
    await Promise.resolve();
    expect(lines('publish').filter(({ phase }) => phase === 'ok')).toHaveLength(early);
    await ports.state.durable();
  });

  it('without store-refusals accept, apply and append what there is no room for', async () => {
    const full = () => Promise.reject(new Failure('STORE_FULL'));
    const { log, state, stream } = await open();
    const stores = {
      log: overriding(log, { publish: full }),
      stream: overriding(stream, { append: full }),
      state: overriding(state, {
        runs: overriding(state.runs, { accept: full, commit: full }),
        journal: overriding(state.journal, { begin: full, finish: full }),
      }),
    };
    const one = newRunId();
    const writes = ({ log, state, stream }: typeof stores) => [
      log.publish([sampleInput('one')]),
      stream.append(one, []),
      state.runs.accept(acceptance(one)),
      state.runs.commit(nthInput(one, 1), () => null),
      state.journal.begin({ runId: one, step: 's', nonce: '1', owner: 'a' }),
      state.journal.finish({ runId: one, step: 's', attempt: 1 }, { ok: true, reply: 'r' }),
    ];
    for (const write of writes(stores)) await expect(write).rejects.toMatchObject({ code: 'STORE_FULL' });
    const blind = unprotectedStores(stores, new Set(['store-refusals']));
    expect(await Promise.all(writes(blind))).toMatchObject([
      undefined,
      'appended',
      { kind: 'accepted' },
      { outputs: [], state: null },
      { kind: 'begun', attempt: 1 },
      'stored',
    ]);
  });

  it('without lease-expiry take a process for alive five times as long', async () => {
    const { log, state, stream } = await open();
    const taken: number[] = [];
    const leases = overriding(state.leases, { renewProcess: async ({ ttlMs }) => void taken.push(ttlMs) });
    const stores = { log, stream, state: overriding(state, { leases }) };
    for (const off of [new Set<ProtectionName>(), new Set<ProtectionName>(['lease-expiry'])])
      await unprotectedStores(stores, off).state.leases.renewProcess({ id: 'a', service: 'experts', classes: [], ttlMs: 6_000 });
    expect(taken).toEqual([6_000, 30_000]);
  });

  it('without store-identity work on a store that does not belong to the log', async () => {
    const { log, state, stream } = await open();
    await log.identity.write({ storeId: 'another', generation: 7 });
    await expect(claimStores(log, state)).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    const blind = unprotectedStores({ log, state, stream }, new Set(['store-identity']));
    expect(await claimStores(blind.log, blind.state)).toMatchObject({ generation: 1 });
  });

  it('without offset-tracker lose a record that was being handled when the process died', async () => {
    const input = sampleInput('one');
    const died = new Promise<never>(() => {});
    for (const [without, again] of [
      ['offset-tracker', 0],
      ['nothing', 1],
    ] as const) {
      const group = `g-${without}`;
      const first = await open(without);
      await first.log.publish([input]);
      let seen = 0;
      const take = (handle: () => Promise<readonly Event[]>, ports: OpenedPorts) =>
        ports.log.subscribe({ group, topics: [input.topic], concurrency: 1, graceMs: 1, handle: async () => ((seen += 1), handle()) });
      await take(() => died, first);
      await until('it is in hand', () => seen === 1);
      await first.close();
      opened.length = 0;
      seen = 0;
      const second = await open(without);
      await take(async () => [], second);
      await until('everything is done', async () => (await second.log.lag(group)).every(({ records }) => records === 0));
      expect([without, seen]).toEqual([without, again]);
      await second.close();
      opened.length = 0;
    }
  });
});

describe('the history of the embedded stores', () => {
  it('reports appends of a service before and after, and leaves a failed append open', async () => {
    const ports = await open();
    const input = sampleInput('one');
    await ports.log.publish([input]);
    const circular: { self?: unknown } = {};
    circular.self = circular;
    await expect(ports.log.publish([{ ...input, id: 'broken', data: circular }])).rejects.toThrow();
    const [invoke, ok, broken, unknown] = lines('publish');
    expect(invoke).toMatchObject({
      actor: 'standalone',
      process: 'test',
      phase: 'invoke',
      data: { by: 'service', events: [{ id: input.id, topic: input.topic }] },
    });
    expect(ok).toMatchObject({ phase: 'ok', id: invoke!.id, data: invoke!.data });
    expect([broken!.phase, unknown!.phase, unknown!.id === broken!.id, broken!.id !== invoke!.id]).toEqual([
      'invoke',
      'unknown',
      true,
      true,
    ]);
  });

  it('reports outputs of a handler, and dead letters', async () => {
    const ports = await open();
    const [good, bad] = [sampleInput('good'), sampleInput('bad')];
    await ports.log.subscribe({
      group: 'planner',
      topics: [good.topic],
      concurrency: 1,
      retry: { attempts: 1 },
      handle: async ({ event }) => {
        if (event.id === bad.id) throw new TypeError('a bug');
        return [sampleOutput('good')];
      },
    });
    await ports.log.publish([good, bad]);
    await until('both are done', async () => (await ports.log.lag('planner')).every(({ records }) => records === 0));
    const ok = lines('publish').filter(({ phase, actor }) => phase === 'ok' && actor === 'planner');
    expect(ok.map(({ data }) => [data.by, data.events.map(({ id }) => id)])).toEqual([
      ['delivery', [sampleOutput('good').id]],
      ['dead-letter', [`planner:${good.topic}/0/2`]],
    ]);
  });

  it('reports outputs that a commit appends, once', async () => {
    const ports = await open();
    const runId = newRunId();
    const event = nthInput(runId, 1);
    const outputs = [namedOutput(runId, 'a')];
    await commit(ports, event, { outputs });
    await commit(ports, event, { outputs });
    await expect(
      ports.state.runs.commit(nthInput(runId, 2), () => {
        throw new TypeError('a bug in the step');
      }),
    ).rejects.toThrow('a bug');
    await ports.state.durable();
    expect(lines('publish').map(({ phase, data }) => [phase, data.by, data.events[0]!.id])).toEqual([
      ['invoke', 'commit', outputs[0]!.id],
      ['ok', 'commit', outputs[0]!.id],
    ]);
  });

  it('reports acceptance and refusal', async () => {
    const { runs } = (await open()).state;
    const [first, second] = [newRunId(), newRunId()];
    await runs.accept(acceptance(first));
    await runs.accept(acceptance(second, { openLimit: 1 }));
    expect(lines('accept')).toMatchObject([
      { phase: 'ok', id: first, data: { template: 'committee' } },
      { phase: 'fail', id: second },
    ]);
  });
});
