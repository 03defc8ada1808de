import 'reflect-metadata';
import { Controller, Inject, Module } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Failure, makeEvent, TaskDispatched, type Event } from '@conclave/contracts';
import { EventPattern, noProbe, openMetrics, openReadiness, serve, silentLogger, type Ports } from '@conclave/platform';
import { loadChannel, type HandlerOutcome, type LoadReport } from '@conclave/ports';
import { World, template } from '../__fixtures__/world.js';
import { gatewayMetrics } from '../operations/gateway-metrics.js';
import { classesOf } from './queue-waits.js';

let world: World;
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  await world.close();
});

const ask = () => world.post('/v1/runs', { model: 'conclave', input: 'Why?' });
const say = (report: LoadReport) => world.stores.state.hints.publish(loadChannel, JSON.stringify(report));
const refusal = async () => {
  const response = await ask();
  const body = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, retryAfter: response.headers.get('retry-after'), code: body.error?.code, message: body.error?.message };
};

async function until(holds: () => Promise<boolean>, ms = 10_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`The condition did not hold within ${ms} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('admission by the wait for workers', () => {
  it('refuses a run whose tasks would wait too long, says when to retry, and admits it when the queue is short', async () => {
    world = await World.open({ limits: { maxQueueWaitMs: 20_000, retryAfterS: 5 } });
    await say({ worker: 'w1', classes: { expert: { slots: 4, waitMs: 33_000 } } });
    await until(async () => (await ask()).status === 503);
    expect(await refusal()).toEqual({
      status: 503,
      retryAfter: '13',
      code: 'QUEUE_TOO_LONG',
      message: expect.stringContaining('Tasks of the class expert wait 33 s for a worker; the limit is 20 s.'),
    });
    const accepted = world.runs().length;
    await say({ worker: 'w1', classes: { expert: { slots: 4, waitMs: 20_000 } } });
    await until(async () => (await ask()).status === 202);
    expect(world.runs().length).toBe(accepted + 1);
    expect(world.history.filter(({ phase }) => phase === 'refused').at(-1)).toMatchObject({ data: { code: 'QUEUE_TOO_LONG' } });
  });

  it('uses the mean over the slots of a class and ignores workers that have left', async () => {
    world = await World.open({ limits: { maxQueueWaitMs: 20_000 } });
    await say({ worker: 'w1', classes: { expert: { slots: 1, waitMs: 70_000 } } });
    await until(async () => (await ask()).status === 503);
    await say({ worker: 'w2', classes: { expert: { slots: 3, waitMs: 0 } } });
    await until(async () => (await ask()).status === 202);
    await say({ worker: 'w2', classes: {} });
    await until(async () => (await ask()).status === 503);
    await say({ worker: 'w1', classes: {} });
    await until(async () => (await ask()).status === 202);
  });

  it('refuses when the wait exceeds the start time-out of the template', async () => {
    world = await World.open({ limits: { maxQueueWaitMs: 60_000 }, template: { start_timeout_s: 10 } });
    await say({ worker: 'w1', classes: { judge: { slots: 1, waitMs: 11_000 } } });
    await until(async () => (await ask()).status === 503);
    expect((await refusal()).message).toContain('the limit is 10 s');
  });

  it('considers only classes that the template may use', async () => {
    expect([...classesOf({ ...template, classes: { ...template.classes, 'expert.general': 'gpu' } })].sort()).toEqual([
      'evidence',
      'gpu',
      'judge',
    ]);
    world = await World.open({ limits: { maxQueueWaitMs: 1_000 } });
    await say({ worker: 'w1', classes: { gpu: { slots: 1, waitMs: 900_000 } } });
    // Reports arrive in order: once the second counts, the first does too.
    await say({ worker: 'w2', classes: { evidence: { slots: 1, waitMs: 5_000 } } });
    await until(async () => (await refusal()).message?.includes('class evidence') ?? false);
    await say({ worker: 'w2', classes: {} });
    await until(async () => (await ask()).status === 202);
  });

  it('admits runs when it has no usable report: none, an expired one, an invalid one, or a store that does not answer', async () => {
    world = await World.open({ limits: { maxQueueWaitMs: 1_000 } });
    for (const nonsense of ['', '{', 'null', '{"worker":1}', '{"worker":"w","classes":{"expert":{"slots":0,"waitMs":99999}}}'])
      await world.stores.state.hints.publish(loadChannel, nonsense);
    expect((await ask()).status).toBe(202);
    await say({ worker: 'w1', classes: { expert: { slots: 1, waitMs: 90_000 } } });
    await until(async () => (await ask()).status === 503);
    await until(async () => (await ask()).status === 202, 15_000);
    const deaf = new Failure('STORE_UNAVAILABLE');
    const { hints } = world.stores.state;
    const subscribe = hints.subscribe.bind(hints);
    hints.subscribe = (channel, listener) => (channel === loadChannel ? Promise.reject(deaf) : subscribe(channel, listener));
    const other = await World.open({ limits: { maxQueueWaitMs: 1_000 }, share: world });
    open.push(other);
    await say({ worker: 'w1', classes: { expert: { slots: 1, waitMs: 90_000 } } });
    expect((await other.post('/v1/runs', { model: 'conclave', input: 'Why?' })).status).toBe(202);
    hints.subscribe = subscribe;
  }, 30_000);

  it('is off when it is set to 0', async () => {
    world = await World.open({ limits: { maxQueueWaitMs: 0 } });
    await say({ worker: 'w1', classes: { expert: { slots: 1, waitMs: 900_000 } } });
    expect((await ask()).status).toBe(202);
    // The subscription to run streams.
    expect(world.stores.subscriptions).toBe(1);
  });

  it('attaches a retry to its run however long the queue is', async () => {
    world = await World.open({ limits: { maxQueueWaitMs: 1_000 } });
    const same = () => world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, { headers: { 'idempotency-key': 'one' } });
    const first = (await (await same()).json()) as { id: string };
    await say({ worker: 'w1', classes: { expert: { slots: 1, waitMs: 90_000 } } });
    await until(async () => (await ask()).status === 503);
    expect(await (await same()).json()).toMatchObject({ id: first.id, attached: true });
  });

  it('counts a refusal under its reason', async () => {
    world = await World.open();
    const metrics = openMetrics();
    gatewayMetrics(metrics).onRefused('QUEUE_TOO_LONG');
    expect(await metrics.text()).toContain('conclave_runs_refused_total{reason="queue_too_long"} 1');
  });
});

const GATE = Symbol('Gate');
@Controller()
class SlowController {
  constructor(@Inject(GATE) private readonly gate: { readonly passed: Promise<void> }) {}
  @EventPattern('TaskDispatched')
  async onTask(@Payload() _task: Event): Promise<HandlerOutcome> {
    await this.gate.passed;
    return [];
  }
}
@Module({})
class SlowModule {}

const taskOf = (n: number): Event => {
  const id = `run_12345678/0/t${n}`;
  return makeEvent(
    TaskDispatched,
    { id, runId: 'run_12345678', source: 'merger', time: 1, key: id, taskClass: 'expert' },
    {
      ...{ taskId: id, epoch: 0, capability: 'expert.general', input: { kind: 'research', task: 'x', query: 'x', limit: 1 } },
      ...{ models: [], prices: {}, contexts: {}, strategy: 'agentic', tenant: 'default', startBy: 1, timeoutS: 1 },
      ...{ allowance: { calls: 0, tokens: 0, cost: null }, stream: 'held' },
    },
  );
};

describe('a slow worker', () => {
  it('makes the gateway refuse runs while its queue is long and admit them when it has caught up', async () => {
    world = await World.open({ limits: { maxQueueWaitMs: 1_500, openRuns: 10_000 } });
    let finish = (): void => undefined;
    const gate = new Promise<void>((resolve) => (finish = resolve));
    const log = world.broker.connect();
    const worker = await serve({
      service: 'experts',
      module: { module: SlowModule, controllers: [SlowController], providers: [{ provide: GATE, useValue: { passed: gate } }] },
      ports: {
        ...{ log, state: world.stores.state, stream: world.stores.stream, models: world.models, search: null, graph: null },
        ...{ blobs: world.broker.blobs, close: async () => undefined },
      } satisfies Ports,
      observers: {
        logger: silentLogger,
        metrics: openMetrics(),
        probe: noProbe,
        readiness: openReadiness(),
      },
      process: { id: 'worker', classes: ['expert'] },
      concurrency: { tasks: { expert: 1 } },
      graceMs: 1_000,
    });
    open.push(log, worker);
    expect((await ask()).status).toBe(202);
    await log.publish([taskOf(1), taskOf(2), taskOf(3)]);
    await until(async () => (await ask()).status === 503, 15_000);
    expect(await refusal()).toMatchObject({ code: 'QUEUE_TOO_LONG', message: expect.stringContaining('class expert') });
    finish();
    await until(async () => (await ask()).status === 202, 15_000);
  }, 40_000);
});
