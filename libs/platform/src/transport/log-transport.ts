import { Server, type CustomTransportStrategy } from '@nestjs/microservices';
import { defaultClassConcurrency, Failure, type Event, type RunCompleted } from '@conclave/contracts';
import {
  isDeferred,
  type Consumption,
  type DeadReason,
  type Delivery,
  type ErasedDelivery,
  type EventLog,
  type HandlerOutcome,
  type RetryPolicy,
  type Subscription,
  type Tracer,
} from '@conclave/ports';
import { isObservable, lastValueFrom } from 'rxjs';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { observeEvents } from '../metrics/observe-events.js';
import { retryWhileStarting } from '../process/patience.js';
import { contextOf, spansOfDelivery, type Handled } from '../tracing/event-spans.js';
import type { WorkflowNames } from '../tracing/workflow-names.js';
import { now } from '../tracing/request-trace.js';
import { traced } from '../tracing/trace-context.js';
import { DeliveryContext } from './delivery-context.js';
import { planSubscriptions, serviceOfGroup } from './groups.js';
import { TaskLoad, type ClassLoad } from './task-load.js';

export interface LogTransportOptions {
  readonly log: EventLog;
  /** Name of the service, also its consumer group. */
  readonly service: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Task classes to serve, if the service handles TaskDispatched. */
  readonly classes?: readonly string[];
  /** Maximum concurrent handlers: for the service's own group, and for each task class. */
  readonly concurrency?: { readonly events?: number; readonly tasks?: Readonly<Record<string, number>> };
  /** Maximum records that each group holds in memory; default by its concurrency. */
  readonly held?: number;
  readonly retry?: Partial<RetryPolicy>;
  /** Milliseconds that closing waits for handlers. */
  readonly graceMs?: number;
  /** Called with what handlers returned, once all of it is on the log. */
  readonly published?: Subscription['published'];
  /** Records what handlers do as spans; absent without tracing. */
  readonly tracing?: { readonly tracer: Tracer; readonly process: string; readonly workflows: Pick<WorkflowNames, 'of'> };
}

export type TransportStatus = 'connected' | 'disconnected';
const defaultEventConcurrency = 16;

/**
 * Connects Nest's handlers to our log. `@EventPattern('<type>')` takes an event and returns events (or `defer(ms)`), as a value, a promise
 * or an observable; `@EventPattern('dead:<type>')` returns what to publish when a record of the type is dead-lettered. Publishing,
 * acknowledging, retrying and dead-lettering belong to the log's delivery pool.
 */
export class LogTransport extends Server<Record<string, never>, TransportStatus> implements CustomTransportStrategy {
  /** We await every result and pass its failure to the delivery pool. */
  override readonly propagatesEventHandlerErrors = true;
  private readonly consumptions: Consumption[] = [];
  private readonly taskLoads: TaskLoad[] = [];
  private readonly observe: ReturnType<typeof observeEvents>;

  constructor(private readonly options: LogTransportOptions) {
    super();
    this.observe = observeEvents(options.metrics);
  }

  async listen(ready: (error?: unknown) => void): Promise<void> {
    try {
      await this.subscribeAll();
      this.measureConsumption();
      this._status$.next('connected');
    } catch (error) {
      ready(error);
      return;
    }
    ready();
  }

  private async subscribeAll(): Promise<void> {
    const { log, service, classes = [], concurrency, held, retry, graceMs, published } = this.options;
    const types = [...this.messageHandlers.keys()].filter((pattern) => !/^(dead|erased):/.test(pattern));
    for (const { group, topics, taskClass } of planSubscriptions(service, types, classes)) {
      const slots = taskClass
        ? (concurrency?.tasks?.[taskClass] ?? defaultClassConcurrency)
        : (concurrency?.events ?? defaultEventConcurrency);
      // Starts the count at 0: the first dead letter is seen as an increase only if the count existed before.
      for (const topic of topics) this.options.metrics.count('dead_letters_total', { topic, service: serviceOfGroup(group) }, 0);
      const load = taskClass === null ? null : this.watchClass(taskClass, slots, group);
      const subscription: Subscription = {
        group,
        topics,
        concurrency: slots,
        handle: (delivery) => {
          load?.begins(delivery);
          return this.handle(delivery);
        },
        onDead: (event, reason) => this.onDead(event, reason, group),
        onErased: (erased) => this.onErased(erased),
        ...(published ? { published } : {}),
        ...(held === undefined ? {} : { held }),
        ...(retry ? { retry } : {}),
        ...(graceMs === undefined ? {} : { graceMs }),
      };
      // A log that has just started may not know its groups yet.
      this.consumptions.push(await retryWhileStarting(() => log.subscribe(subscription), this.options.logger));
    }
  }

  private watchClass(taskClass: string, slots: number, group: string): TaskLoad {
    const consumption = () => this.consumptions.find((one) => one.group === group)?.load() ?? null;
    const load = new TaskLoad(taskClass, slots, consumption, this.options.metrics);
    this.taskLoads.push(load);
    return load;
  }

  private async handle(delivery: Delivery): Promise<HandlerOutcome> {
    const { event } = delivery;
    const handler = this.messageHandlers.get(event.type);
    // A topic may carry types that this service does not handle.
    if (!handler) return [];
    const { tracing } = this.options;
    const from = tracing ? now() : 0;
    const context = this.contextOf(delivery);
    let outcome: HandlerOutcome;
    try {
      outcome = await settle(handler(event, context), event.type);
    } catch (error) {
      if (tracing) this.trace(delivery, context, { from, failure: error instanceof Failure ? error.code : 'INTERNAL' }, []);
      throw error;
    }
    if (isDeferred(outcome)) return outcome;
    const outputs = traced(event, outcome);
    this.observe(event, outputs);
    if (tracing) this.trace(delivery, context, { from }, outputs);
    for (const output of outputs) if (output.type === 'RunCompleted') noteEnd(output, context.logger);
    return outputs;
  }

  private async onDead(event: Event | null, reason: DeadReason, group: string): Promise<readonly Event[]> {
    const handler = event ? this.messageHandlers.get(`dead:${event.type}`) : undefined;
    if (!event || !handler) return [];
    const delivery: Delivery = { event, group, attempt: 0, appendedAt: event.time, signal: new AbortController().signal };
    const from = this.options.tracing ? now() : 0;
    const context = this.contextOf(delivery);
    const outcome = await settle(handler({ event, reason }, context), `dead:${event.type}`);
    if (isDeferred(outcome)) throw new TypeError(`The handler of dead:${event.type} returned defer(); a dead record is final.`);
    const outputs = traced(event, outcome);
    this.observe(event, outputs);
    if (this.options.tracing) this.trace(delivery, context, { from, failure: 'RECORD_DEAD' }, outputs);
    return outputs;
  }

  private async onErased(erased: ErasedDelivery): Promise<HandlerOutcome> {
    const handler = this.messageHandlers.get(`erased:${erased.type}`);
    return handler ? settle(handler(erased), `erased:${erased.type}`) : [];
  }

  private trace(
    { event, group, attempt, appendedAt }: Delivery,
    context: DeliveryContext,
    how: Pick<Handled, 'from' | 'failure'>,
    outputs: readonly Event[],
  ): void {
    const { service, tracing } = this.options;
    const { tracer, process, workflows } = tracing!;
    const { messagingSystem } = tracer;
    const record: Handled = {
      event,
      group,
      attempt,
      appendedAt,
      service,
      process,
      messagingSystem,
      joined: context.joined ?? [],
      ...how,
      to: now(),
    };
    const spans = (workflow: string | null): void => {
      try {
        for (const span of spansOfDelivery({ ...record, workflow }, outputs)) tracer.record(span);
      } catch (error) {
        context.logger.error('The spans of a record could not be made.', { error });
      }
    };
    const named = contextOf(event).sampled && outputs.some(({ type }) => type === 'CallRecorded') ? workflows.of(event) : null;
    // The record does not wait for the name.
    if (named instanceof Promise) void named.then(spans);
    else spans(named);
  }

  private contextOf(delivery: Delivery): DeliveryContext {
    const { event } = delivery;
    const makeLogger = (): Logger => this.options.logger.child({ run: event.runId, trace: contextOf(event).traceId, type: event.type });
    return new DeliveryContext(delivery, makeLogger, this.options.tracing && contextOf(event).sampled ? [] : null);
  }

  private measureConsumption(): void {
    const { metrics, log } = this.options;
    metrics.onCollect(() => this.taskLoads.forEach((load) => load.expose()));
    metrics.onCollect(async () => {
      for (const consumption of this.consumptions) {
        const { group } = consumption;
        const load = consumption.load();
        metrics.set('paused_partitions', { group }, load.pausedPartitions);
        metrics.set('held_records', { group }, load.held);
        metrics.set('running_handlers', { group }, load.running);
        const perTopic = new Map<string, number>();
        for (const { topic, records } of await log.lag(group)) perTopic.set(topic, (perTopic.get(topic) ?? 0) + records);
        for (const [topic, records] of perTopic) metrics.set('consumer_lag_records', { group, topic }, records);
      }
    });
  }

  /** Load of the task classes served here, by class. */
  classLoads(): Readonly<Record<string, ClassLoad>> {
    return Object.fromEntries(
      this.taskLoads.flatMap((load) => {
        const read = load.read();
        return read ? [[load.taskClass, read] as const] : [];
      }),
    );
  }

  /** Null while every group fetches, otherwise a sentence that says what is wrong. */
  health(): string | null {
    const sentences = this.consumptions.map((consumption) => consumption.health()).filter((sentence) => sentence !== null);
    return sentences.length > 0 ? sentences.join(' ') : null;
  }

  /** Stops fetching and waits for running handlers. The code that opened the log closes it. */
  async close(): Promise<void> {
    await Promise.all(this.consumptions.splice(0).map((consumption) => consumption.close()));
    this._status$.next('disconnected');
  }

  on(event: string): never {
    throw new Error(`The transport has no event "${event}"; subscribe to \`status\` instead.`);
  }

  unwrap<T>(): T {
    return this.options.log as T;
  }
}

/** Logs the end of a run, without its content. */
function noteEnd(output: Event, logger: Logger): void {
  const { template, outcome, rule, rounds, usage, failure } = output.data as RunCompleted['data'];
  logger.info('run ended', {
    template: template.id,
    outcome,
    rule,
    rounds,
    calls: usage.calls,
    ...(failure ? { code: failure.code } : {}),
  });
}

/** Combined results of several handlers of one event, as Nest joins them. */
interface Joined {
  readonly current: unknown;
  readonly next: unknown;
}
const isJoined = (value: unknown): value is Joined => typeof value === 'object' && value !== null && 'current' in value && 'next' in value;
const isEvent = (value: unknown): value is Event =>
  typeof value === 'object' && value !== null && typeof (value as Event).id === 'string' && typeof (value as Event).type === 'string';

/**
 * Awaits a handler's result (a value, a promise or an observable) and turns it into the outcome of the delivery. No result means no events.
 * If one of several handlers defers, the whole delivery is deferred. Throws TypeError for anything other than events or `defer()`.
 */
async function settle(result: unknown, handler: string): Promise<HandlerOutcome> {
  const value: unknown = await result;
  const last: unknown = isObservable(value) ? await lastValueFrom(value, { defaultValue: undefined }) : value;
  return toOutcome(last, handler);
}

function toOutcome(value: unknown, handler: string): HandlerOutcome {
  if (value === undefined || value === null) return [];
  if (isJoined(value)) {
    const outcomes = [toOutcome(value.current, handler), toOutcome(value.next, handler)];
    const deferred = outcomes.filter(isDeferred);
    if (deferred.length > 0) return { deferMs: Math.max(...deferred.map(({ deferMs }) => deferMs)) };
    return outcomes.flatMap((outcome) => outcome as readonly Event[]);
  }
  if (Array.isArray(value) && value.every(isEvent)) return value;
  if (typeof value === 'object' && 'deferMs' in value && typeof value.deferMs === 'number') return { deferMs: value.deferMs };
  throw new TypeError(`The handler of ${handler} returned neither a list of events nor defer(ms).`);
}
