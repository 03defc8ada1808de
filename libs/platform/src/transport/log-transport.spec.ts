import 'reflect-metadata';
import { Controller, Inject, Module, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, EventPattern as NestEventPattern, Payload, type MicroserviceOptions } from '@nestjs/microservices';
import { afterEach, describe, expect, it } from '@jest/globals';
import { EMPTY, of, throwError } from 'rxjs';
import { type Event, KnowledgeProposed, makeEvent, SettingChanged } from '@conclave/contracts';
import { defer, MemoryBroker, type HandlerOutcome } from '@conclave/ports';
import { openMetrics } from '../metrics/metrics.js';
import { silentLogger } from '../logging/logger.js';
import { noProbe } from '../process/probe.js';
import { traceIdOf, traceIdOfRun, traceparentFor } from '../tracing/trace-context.js';
import type { DeliveryContext } from './delivery-context.js';
import { deliveryHooks } from './delivery-hooks.js';
import { EventPattern } from './event-pattern.js';
import { LogTransport } from './log-transport.js';
import { RethrowFilter } from './rethrow-filter.js';

const runOf = (name: string): string => `run_${Buffer.from(name).toString('hex').padStart(8, '0')}`;

/** An input event with its own run. */
const knowledgeOf = (name: string): Event =>
  makeEvent(
    KnowledgeProposed,
    { id: `${runOf(name)}/proposed`, runId: runOf(name), source: 'gateway', time: 1 },
    { kind: 'document', tenant: 'default', actor: 'test', text: name, about: null, proposedAt: 1 },
  );

/** A possible output of a handler; the same input and name return the same id. */
const settled = (event: Event, setting = 'done'): Event =>
  makeEvent(
    SettingChanged,
    { id: `${event.runId}/changed/${setting}`, runId: event.runId, source: 'gateway', time: 1 },
    { setting, actor: 'test', before: null, after: null, version: 1, changedAt: 1 },
  );

type Handle = (event: Event, context: DeliveryContext) => unknown;
interface Handlers {
  readonly onKnowledge: Handle;
  readonly onDead: (dead: { readonly event: Event; readonly reason: string }) => unknown;
  readonly second?: Handle;
  readonly onErased?: (erased: { readonly runId: string }) => unknown;
}
const HANDLERS = Symbol('Handlers');

@Controller()
class KnowledgeController {
  constructor(@Inject(HANDLERS) private readonly handlers: Handlers) {}
  @EventPattern('KnowledgeProposed')
  onKnowledge(@Payload() event: Event, @Ctx() context: DeliveryContext): unknown {
    return this.handlers.onKnowledge(event, context);
  }
  @EventPattern('dead:KnowledgeProposed')
  onDead(@Payload() dead: { readonly event: Event; readonly reason: string }): unknown {
    return this.handlers.onDead(dead);
  }
  @EventPattern('erased:KnowledgeProposed')
  onErased(@Payload() erased: { readonly runId: string }): unknown {
    return this.handlers.onErased?.(erased);
  }
}
@Controller()
class SecondController {
  constructor(@Inject(HANDLERS) private readonly handlers: Handlers) {}
  @EventPattern('KnowledgeProposed')
  onKnowledge(@Payload() event: Event, @Ctx() context: DeliveryContext): unknown {
    return this.handlers.second?.(event, context);
  }
}
@Module({})
class KnowledgeModule {}
@Controller()
class UnknownController {
  @NestEventPattern<string>('NothingOfTheKind')
  onNothing(@Payload() _event: Event): readonly Event[] {
    return [];
  }
}
@Module({ controllers: [UnknownController] })
class UnknownModule {}

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(handlers: Partial<Handlers>, attempts = 2) {
  const broker = new MemoryBroker();
  const metrics = openMetrics();
  const hooks = deliveryHooks({ metrics, logger: silentLogger, probe: noProbe });
  const log = broker.connect(hooks);
  const transport = new LogTransport({
    log,
    service: 'graph-ingest',
    logger: silentLogger,
    metrics,
    retry: { attempts, backoffMs: 1, maxBackoffMs: 2 },
    graceMs: 1_000,
  });
  const all: Handlers = { onKnowledge: () => [], onDead: () => [], ...handlers };
  const root = {
    module: KnowledgeModule,
    controllers: handlers.second ? [KnowledgeController, SecondController] : [KnowledgeController],
    providers: [{ provide: HANDLERS, useValue: all }],
  };
  const app: INestMicroservice = await NestFactory.createMicroservice<MicroserviceOptions>(root, { strategy: transport, logger: false });
  app.useGlobalFilters(new RethrowFilter());
  const statuses: string[] = [];
  transport.status.subscribe((status) => statuses.push(status));
  await app.listen();
  open.push(log, app);
  const changes = async (): Promise<Event[]> => {
    const found: Event[] = [];
    for await (const record of log.read('audit')) if (record.event) found.push(record.event);
    return found;
  };
  return { broker, log, metrics, transport, app, statuses, changes };
}

describe('a handler on the log', () => {
  const ways: readonly (readonly [string, (output: Event) => unknown, number])[] = [
    ['a list', (output) => [output], 1],
    ['a promise of a list', async (output) => [output], 1],
    ['an observable', (output) => of([output]), 1],
    ['an observable that ends empty', () => EMPTY, 0],
    ['nothing', () => undefined, 0],
    ['a promise of nothing', async () => undefined, 0],
  ];
  it.each(ways)('may return %s', async (_name, way, expected) => {
    let handled = 0;
    const { log, changes } = await start({
      onKnowledge: (event) => {
        handled += 1;
        return way(settled(event));
      },
    });
    await log.publish([knowledgeOf('one')]);
    await until(async () => handled === 1 && (await log.lag('graph-ingest')).every(({ records }) => records === 0));
    expect(await changes()).toHaveLength(expected);
  });

  it('is called again after a TypeError, and others are still served', async () => {
    let calls = 0;
    const { log, changes } = await start({
      onKnowledge: (event) => {
        calls += 1;
        if (calls === 1) return (undefined as unknown as { missing: { deeper: string } }).missing.deeper;
        return [settled(event)];
      },
    });
    await log.publish([knowledgeOf('one'), knowledgeOf('two')]);
    await until(async () => (await changes()).length === 2);
    expect(calls).toBe(3);
  });

  it.each([
    [
      'a thrown error',
      () => {
        throw new RangeError('the true reason');
      },
    ],
    ['a rejected promise', () => Promise.reject(new RangeError('the true reason'))],
    ['an observable that fails', () => throwError(() => new RangeError('the true reason'))],
  ] as const)('keeps the error of %s unchanged', async (_name, fail) => {
    const errors: unknown[] = [];
    const broker = new MemoryBroker();
    const log = broker.connect({ handled: ({ error }) => void (error && errors.push(error)) });
    const transport = new LogTransport({
      log,
      service: 'graph-ingest',
      logger: silentLogger,
      metrics: openMetrics(),
      retry: { attempts: 1 },
    });
    const root = {
      module: KnowledgeModule,
      controllers: [KnowledgeController],
      providers: [{ provide: HANDLERS, useValue: { onKnowledge: fail, onDead: () => [] } }],
    };
    const app = await NestFactory.createMicroservice<MicroserviceOptions>(root, { strategy: transport, logger: false });
    app.useGlobalFilters(new RethrowFilter());
    await app.listen();
    open.push(log, app);
    await log.publish([knowledgeOf('one')]);
    await until(async () => errors.length > 0);
    expect(errors[0]).toBeInstanceOf(RangeError);
    expect((errors[0] as Error).message).toBe('the true reason');
  });

  it('is told of an erased record by the handler for it, and never sees its type', async () => {
    const told: unknown[] = [];
    const seen: unknown[] = [];
    const { log } = await start({ onKnowledge: (event) => void seen.push(event), onErased: (erased) => void told.push(erased) });
    await log.erase(knowledgeOf('gone').runId);
    await log.publish([knowledgeOf('gone')]);
    await until(async () => told.length > 0);
    expect(told).toEqual([{ type: 'KnowledgeProposed', runId: knowledgeOf('gone').runId }]);
    expect([seen, await log.lag('graph-ingest')]).toMatchObject([[], [{ records: 0 }]]);
  });

  it('may defer without using up an attempt', async () => {
    let calls = 0;
    const { log, changes } = await start({ onKnowledge: (event): HandlerOutcome => ((calls += 1) <= 4 ? defer(1) : [settled(event)]) }, 2);
    await log.publish([knowledgeOf('one')]);
    await until(async () => (await changes()).length === 1);
    expect(calls).toBe(5);
  });

  it('that returns anything else fails, with a sentence that says so', async () => {
    const reasons: string[] = [];
    const { log } = await start({ onKnowledge: () => ({ events: 'no' }), onDead: ({ reason }) => void reasons.push(reason) }, 1);
    await log.publish([knowledgeOf('one')]);
    await until(async () => reasons.length === 1);
    expect(reasons).toEqual(['failed']);
  });

  it('uses dead:<type> to say what follows from a dead-lettered record', async () => {
    const { log, changes, metrics } = await start({
      onKnowledge: () => Promise.reject(new Error('always')),
      onDead: ({ event }) => [settled(event, 'dead')],
    });
    await log.publish([knowledgeOf('one')]);
    await until(async () => (await changes()).length === 1);
    expect((await changes())[0]?.data).toMatchObject({ setting: 'dead' });
    expect(await metrics.text()).toContain('conclave_dead_letters_total{topic="knowledge.ingest",service="graph-ingest"} 1');
  });

  it('shares its event with a second handler of the same type; the outputs of both are published', async () => {
    const { log, changes } = await start({
      onKnowledge: (event) => [settled(event, 'first')],
      second: async (event) => [settled(event, 'second')],
    });
    await log.publish([knowledgeOf('one')]);
    await until(async () => (await changes()).length === 2);
    expect((await changes()).map(({ data }) => (data as { setting: string }).setting).sort()).toEqual(['first', 'second']);
  });

  it('receives the run and a signal, and its outputs stay in the trace of its event', async () => {
    const contexts: DeliveryContext[] = [];
    const { log, changes } = await start({
      onKnowledge: (event, context) => {
        contexts.push(context);
        return [settled(event)];
      },
    });
    const untraced = knowledgeOf('one');
    const given = { ...knowledgeOf('two'), traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
    await log.publish([untraced, given]);
    await until(async () => (await changes()).length === 2);
    const traces = new Map((await changes()).map((event) => [event.runId, event.traceparent]));
    expect(traceIdOf(traces.get(untraced.runId))).toBe(traceIdOfRun(untraced.runId));
    expect(traceIdOf(traces.get(given.runId))).toBe('ab'.repeat(16));
    expect(traces.get(given.runId)).not.toContain('cd'.repeat(8));
    expect(contexts[0]).toMatchObject({ attempt: 1 });
    expect(contexts[0]?.signal.aborted).toBe(false);
  });
});

describe('the transport', () => {
  it('tells Nest when it is connected and when it no longer is', async () => {
    const { app, statuses } = await start({});
    expect(statuses).toEqual(['connected']);
    await app.close();
    expect(statuses).toEqual(['connected', 'disconnected']);
  });

  it('refuses at its start a pattern that no contract declares', async () => {
    const log = new MemoryBroker().connect();
    const transport = new LogTransport({ log, service: 'graph-ingest', logger: silentLogger, metrics: openMetrics() });
    const app = await NestFactory.createMicroservice<MicroserviceOptions>(UnknownModule, { strategy: transport, logger: false });
    await expect(app.listen()).rejects.toThrow('no such event is declared');
    await log.close();
  });

  it('measures handling, waiting and lag', async () => {
    const { log, metrics, changes } = await start({ onKnowledge: (event) => [settled(event)] });
    await log.publish([knowledgeOf('one')]);
    await until(async () => (await changes()).length === 1 && (await log.lag('graph-ingest')).every(({ records }) => records === 0));
    const text = await metrics.text();
    expect(text).toContain('conclave_event_handle_seconds_count{type="KnowledgeProposed",service="graph-ingest",outcome="done"} 1');
    expect(text).toContain('conclave_event_queue_wait_seconds_count{type="KnowledgeProposed",service="graph-ingest"} 1');
    expect(text).toContain('conclave_consumer_lag_records{group="graph-ingest",topic="knowledge.ingest"} 0');
  });

  it('creates the same traceparents for the same event', () => {
    const event = { id: 'run_12345678/0/plan', runId: 'run_12345678' };
    expect(traceparentFor(event)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(traceparentFor(event)).toBe(traceparentFor({ ...event }));
    expect(traceIdOf('00-00000000000000000000000000000000-0000000000000001-01')).toBeUndefined();
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 5_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('The condition did not hold within 5 s.');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
