import 'reflect-metadata';
import { Controller, Inject, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload, type MicroserviceOptions } from '@nestjs/microservices';
import { afterEach, describe, expect, it } from '@jest/globals';
import { makeEvent, TaskDispatched, type Event } from '@conclave/contracts';
import { defer, MemoryBroker, type HandlerOutcome } from '@conclave/ports';
import { silentLogger } from '../logging/logger.js';
import { openMetrics } from '../metrics/metrics.js';
import { EventPattern } from './event-pattern.js';
import { LogTransport } from './log-transport.js';

const HANDLE = Symbol('Handle');
type Handle = (task: Event) => Promise<HandlerOutcome>;

@Controller()
class TaskController {
  constructor(@Inject(HANDLE) private readonly handle: Handle) {}
  @EventPattern('TaskDispatched')
  onTask(@Payload() task: Event): Promise<HandlerOutcome> {
    return this.handle(task);
  }
}
@Module({})
class TaskModule {}

const taskOf = (name: string): Event => {
  const id = `run_12345678/0/${name}`;
  return makeEvent(
    TaskDispatched,
    { id, runId: 'run_12345678', source: 'merger', time: 1, key: id, taskClass: 'gpu' },
    {
      taskId: id,
      epoch: 0,
      capability: 'research',
      input: { kind: 'research', task: name, query: name, limit: 1 },
      models: [],
      prices: {},
      contexts: {},
      strategy: 'single-pass',
      tenant: 'default',
      startBy: 1,
      timeoutS: 1,
      allowance: { calls: 0, tokens: 0, cost: null },
      stream: 'held',
    },
  );
};

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** One worker of the class `gpu` with two slots; the log's clock is `lateMs` behind ours, as if every task had waited that long. */
async function worker(handle: Handle, lateMs = 0) {
  const clock = {
    now: () => Date.now() - lateMs,
    random: () => 0.5,
    after: (ms: number, call: () => void) => {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
  };
  const log = new MemoryBroker({ clock }).connect();
  const metrics = openMetrics();
  const transport = new LogTransport({
    log,
    service: 'experts',
    logger: silentLogger,
    metrics,
    classes: ['gpu'],
    concurrency: { tasks: { gpu: 2 } },
    retry: { attempts: 3, backoffMs: 1, maxBackoffMs: 2 },
    graceMs: 1_000,
  });
  const root = { module: TaskModule, controllers: [TaskController], providers: [{ provide: HANDLE, useValue: handle }] };
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(root, { strategy: transport, logger: false });
  await app.listen();
  open.push(log, app);
  const publish = async (...names: readonly string[]) => {
    await log.publish(names.map(taskOf));
  };
  return { log, metrics, transport, publish };
}

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + 5_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('The condition did not hold within 5 s.');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('the load of a task class', () => {
  it('counts slots and busy slots, and reports how long the oldest waiting task has waited', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { publish, transport, metrics } = await worker(async () => (await gate, []), 40_000);
    expect(transport.classLoads()).toEqual({ gpu: { slots: 2, busy: 0, waitMs: 0 } });
    await publish('a', 'b', 'c');
    await until(async () => (await metrics.text()).includes('conclave_task_queue_wait_seconds_count{class="gpu"} 2'));
    expect(transport.classLoads()['gpu']!.busy).toBe(2);
    expect(transport.classLoads()['gpu']!.waitMs).toBeGreaterThanOrEqual(40_000);
    const text = await metrics.text();
    expect(text).toContain('conclave_worker_slots{class="gpu"} 2');
    expect(text).toContain('conclave_worker_busy_slots{class="gpu"} 2');
    expect(text).toMatch(/conclave_task_waiting_seconds\{class="gpu"\} 4\d/);
    release();
    await until(() => transport.classLoads()['gpu']!.busy === 0);
    expect(transport.classLoads()).toEqual({ gpu: { slots: 2, busy: 0, waitMs: 0 } });
    expect(await metrics.text()).toMatch(/conclave_task_queue_wait_seconds_bucket\{le="30",class="gpu"\} 0/);
  });

  it('counts the wait of a task once, however often it is deferred or fails', async () => {
    const seen: string[] = [];
    const { publish, log, metrics } = await worker(async ({ id }) => {
      seen.push(id);
      if (seen.length === 1) return defer(1);
      if (seen.length === 2) throw new Error('not yet');
      return [];
    });
    await publish('a');
    await until(async () => seen.length === 3 && (await log.lag('tasks.gpu')).every(({ records }) => records === 0));
    expect(await metrics.text()).toContain('conclave_task_queue_wait_seconds_count{class="gpu"} 1');
  });
});
