import { beforeEach, describe, expect, it } from '@jest/globals';
import { Failure, type FailureCode, type FailureNote, noUsage } from '@conclave/contracts';
import { noProbe, openMetrics, silentLogger } from '@conclave/platform';
import { type Breakers, defaultBreaker, MemoryStores, type Models, systemClock } from '@conclave/ports';
import { askModels, type ModelQuestion } from './ask-models.js';
import { CallMaker } from './call-maker.js';
import { healthOf } from './provider-breaker.js';

const { openMs } = defaultBreaker;
let shift = 0;
let stores: MemoryStores;
let asked: string[];
/** How the servers react to a call; they answer unless a test sets something else. */
let meet: (model: string, signal: AbortSignal) => Promise<void>;
let trips: { read: number; swap: number };
beforeEach(() => {
  shift = 0;
  stores = new MemoryStores({ clock: { ...systemClock, now: () => systemClock.now() + shift } });
  asked = [];
  meet = () => Promise.resolve();
  trips = { read: 0, swap: 0 };
});

const status = { reachable: true, local: false, paid: false, note: '', maxConcurrency: 8 };
const models = (maxConcurrency: number): Models =>
  ({
    providers: async () => [
      { ...status, name: 'sick', maxConcurrency, breaker: defaultBreaker },
      { ...status, name: 'other', breaker: defaultBreaker },
    ],
    call: async ({ model }, { signal }) => {
      asked.push(model);
      await meet(model, signal);
      const usage = { ...noUsage, calls: 1 };
      return { content: 'It is B.', reasoning: '', finishReason: 'stop', usage, reportedModel: null, firstTokenMs: 1, durationMs: 2 };
    },
  }) as Partial<Models> as Models;

/** A separate process, which knows breakers only from the store. */
function process(id: string, { maxConcurrency = 8, breakers }: { maxConcurrency?: number; breakers?: Partial<Breakers> } = {}) {
  const { state, stream } = stores.connect(id);
  const counted: Breakers = {
    read: (provider) => ((trips.read += 1), state.breakers.read(provider)),
    swap: (write) => ((trips.swap += 1), state.breakers.swap(write)),
    ...breakers,
  };
  const metrics = openMetrics();
  const maker = new CallMaker({
    state: { ...state, breakers: counted },
    stream,
    models: models(maxConcurrency),
    probe: noProbe,
    logger: silentLogger,
    metrics,
    processId: id,
    service: 'experts',
    storePrompts: 'full',
    guard: null,
  });
  return { maker, metrics };
}

let questions = 0;
const question = (list: readonly string[], changes: Partial<ModelQuestion> = {}): ModelQuestion => ({
  runId: 'run_breaker00',
  owner: `run_breaker00/0/x${(questions += 1)}`,
  purpose: 'expert.general',
  models: list,
  messages: [{ role: 'user', content: 'What is it?' }],
  deadline: stores.clock.now() + 60_000,
  calls: 2,
  prices: {},
  signal: new AbortController().signal,
  ...changes,
});
const fails =
  (code: FailureCode) =>
  async (model: string): Promise<void> => {
    if (model.endsWith('@sick')) throw new Failure(code);
  };
async function failing(maker: CallMaker, times: number, code: FailureCode = 'PROVIDER_FAILED'): Promise<void> {
  meet = fails(code);
  for (let n = 0; n < times; n += 1) expect(await askModels(maker, question(['a@sick'], { calls: 1 }))).toMatchObject({ kind: 'failed' });
}
/** Total number of openings counted by all processes. */
async function openings(processes: readonly ReturnType<typeof process>[]): Promise<number> {
  const texts = await Promise.all(processes.map(({ metrics }) => metrics.text()));
  return texts.reduce((sum, text) => sum + Number(/openings_total\{provider="sick"\} (\d+)/.exec(text)?.[1] ?? 0), 0);
}

describe('a provider that fails five times in a row', () => {
  it('is left alone by every process, and the next model is asked, with the reason, although only one call is left', async () => {
    const [one, two] = [process('one'), process('two')];
    await failing(one.maker, 5);
    const said: [string, FailureNote | null][] = [];
    const onBegun = (_attempt: number, model: string, _messages: unknown, before: FailureNote | null) => void said.push([model, before]);
    for (const { maker } of [one, two]) {
      asked = [];
      expect(await askModels(maker, question(['a@sick', 'b@sick', 'c@other'], { calls: 1, onBegun }))).toMatchObject({
        kind: 'answer',
        model: 'c@other',
        usage: { calls: 1 },
      });
      expect(asked).toEqual(['c@other']);
    }
    const before = { code: 'PROVIDER_UNWELL', message: expect.stringContaining('Provider sick is retried in 30 s.') };
    expect(said).toEqual([
      ['c@other', expect.objectContaining(before)],
      ['c@other', expect.objectContaining(before)],
    ]);
    // The process that made the failed calls also says why they failed.
    expect(said.map(([, note]) => note!.message.includes('Its last failure: The model server failed.'))).toEqual([true, false]);
    expect(await two.metrics.text()).toContain('conclave_provider_breaker{provider="sick"} 2');
    expect(await one.metrics.text()).toContain('conclave_provider_breaker_openings_total{provider="sick"} 1');
    expect(await two.metrics.text()).not.toContain('conclave_provider_breaker_openings_total{provider="sick"}');
  });

  it('is a typed failure if no model is left; it costs nothing and is the same when its record is redelivered', async () => {
    const { maker } = process('one');
    await failing(maker, 5);
    const alone = question(['a@sick', 'b@sick']);
    for (let round = 0; round < 2; round += 1)
      expect(await askModels(maker, alone)).toMatchObject({
        kind: 'failed',
        failure: { code: 'PROVIDER_UNWELL', retriable: true },
        usage: { calls: 0, prompt: 0 },
      });
    shift = openMs;
    expect(await askModels(maker, alone)).toMatchObject({ kind: 'failed', failure: { code: 'PROVIDER_UNWELL' } });
    expect(asked).toHaveLength(5);
  });

  it('gets one probe of all processes when its time is over; a failed one opens it again, a successful one closes it', async () => {
    const first = process('one');
    await failing(first.maker, 5);
    const all = [first];
    /** Two processes without prior knowledge make two calls each: how many of the four reach the provider. */
    const reached = async (): Promise<number> => {
      const both = [process('two'), process('three')];
      all.push(...both);
      asked = [];
      await Promise.all([...both, ...both].map(({ maker }) => askModels(maker, question(['a@sick', 'c@other']))));
      return asked.filter((model) => model === 'a@sick').length;
    };
    shift = openMs;
    expect([await reached(), await reached()]).toEqual([1, 0]);
    shift += openMs;
    meet = () => Promise.resolve();
    expect([await reached(), await reached()]).toEqual([1, 4]);
    expect(await first.metrics.text()).toContain('conclave_provider_breaker{provider="sick"} 0');
    expect(await openings(all)).toBe(2);
  });

  it('is no longer awaited by a call that waits for one of its slots', async () => {
    const { maker } = process('one', { maxConcurrency: 1 });
    await stores.leases.acquireSlot({ name: 'sick', limit: 1, holder: 'somebody', ttlMs: 60_000 });
    const waiting = askModels(maker, question(['a@sick', 'c@other']));
    const other = process('two', {});
    await failing(other.maker, 5);
    expect(await waiting).toMatchObject({ kind: 'answer', model: 'c@other' });
  });

  it('is opened once by many calls that fail at the same moment in two processes', async () => {
    const both = [process('one', { maxConcurrency: 12 }), process('two', { maxConcurrency: 12 })];
    let arrived = 0;
    let release: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (release = resolve));
    meet = async () => {
      arrived += 1;
      if (arrived === 12) release();
      await all;
      throw new Failure('PROVIDER_UNREACHABLE');
    };
    await Promise.all(Array.from({ length: 12 }, (_, n) => askModels(both[n % 2]!.maker, question(['a@sick'], { calls: 1 }))));
    expect(await openings(both)).toBe(1);
  });
});

describe('what counts against a provider', () => {
  it.each<[FailureCode, number, 'unwell' | 'neither']>([
    ['PROVIDER_UNREACHABLE', 1, 'unwell'],
    ['PROVIDER_FAILED', 1, 'unwell'],
    ['PROVIDER_STREAM_BROKEN', 1, 'unwell'],
    ['PROVIDER_RATE_LIMITED', 1, 'unwell'],
    ['CALL_TIMEOUT', 10_000, 'unwell'],
    ['CALL_TIMEOUT', 9_999, 'neither'],
    ['PROVIDER_REFUSED', 60_000, 'neither'],
    ['PROVIDER_UNAUTHENTICATED', 60_000, 'neither'],
    ['PROVIDER_REPLY_INVALID', 60_000, 'neither'],
    ['CONTEXT_OVERFLOW', 60_000, 'neither'],
    ['MODEL_NOT_FOUND', 60_000, 'neither'],
    ['CALL_CANCELLED', 60_000, 'neither'],
    ['STORE_UNAVAILABLE', 60_000, 'neither'],
  ])('%s with %d ms is %s', (code, timeoutMs, health) => {
    expect(healthOf(new Failure(code), timeoutMs)).toBe(health);
    expect(healthOf(new TypeError('a bug'), timeoutMs)).toBe('neither');
  });

  it("does not include the content of a client's requests, however many are refused", async () => {
    const { maker } = process('one');
    await failing(maker, 25, 'PROVIDER_REFUSED');
    await failing(maker, 25, 'CONTEXT_OVERFLOW');
    expect(asked).toHaveLength(50);
    expect(trips.swap).toBe(0);
  });

  it('costs a healthy provider one read a second, and a call that fails one write', async () => {
    const { maker } = process('one');
    await Promise.all(Array.from({ length: 10 }, () => askModels(maker, question(['c@other']))));
    const reads = trips.read;
    await Promise.all(Array.from({ length: 10 }, () => askModels(maker, question(['c@other']))));
    expect([trips.read - reads, trips.swap]).toEqual([0, 0]);
    trips = { read: 0, swap: 0 };
    await failing(maker, 1);
    expect(trips).toEqual({ read: 1, swap: 1 });
    await failing(maker, 1);
    expect(trips).toEqual({ read: 1, swap: 2 });
  });

  it('costs no reply if the store is unavailable: the reply is kept, and the outcome is not counted', async () => {
    const swap = () => Promise.reject(new Failure('STORE_UNAVAILABLE'));
    const { maker } = process('one', { breakers: { swap } });
    await failing(maker, 1);
    meet = () => Promise.resolve();
    expect(await askModels(maker, question(['a@sick']))).toMatchObject({ kind: 'answer', model: 'a@sick' });
  });

  it('makes no call if the store is unavailable before it: the step is free for the next process', async () => {
    const read = () => Promise.reject(new Failure('STORE_UNAVAILABLE'));
    const mine = question(['a@sick']);
    await expect(askModels(process('one', { breakers: { read } }).maker, mine)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(asked).toEqual([]);
    expect(await askModels(process('two').maker, mine)).toMatchObject({ kind: 'answer' });
  });

  it('is a probe that is given back when it is cancelled', async () => {
    await failing(process('one').maker, 5);
    shift = openMs;
    const { maker } = process('two');
    const stop = new AbortController();
    meet = (_model, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Failure('CALL_CANCELLED')), { once: true }));
    const probing = askModels(maker, question(['a@sick'], { signal: stop.signal })).catch((error: unknown) => error);
    while (asked.length < 6) await new Promise((resolve) => setImmediate(resolve));
    expect(await askModels(maker, question(['a@sick']))).toMatchObject({ failure: { code: 'PROVIDER_UNWELL' } });
    stop.abort();
    expect(await probing).toMatchObject({ code: 'CALL_CANCELLED' });
    meet = () => Promise.resolve();
    expect(await askModels(maker, question(['a@sick']))).toMatchObject({ kind: 'answer' });
  });
});
