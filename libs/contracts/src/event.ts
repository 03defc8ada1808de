import * as z from 'zod';
import { checkData, trustData } from './data-check.js';
import { Failure } from './failure.js';

/** Senders and receivers of events. `transport`, `learning` and `webhooks` run inside other processes. */
export const services = ['gateway', 'planner', 'experts', 'merger', 'graph-ingest', 'transport', 'learning', 'webhooks', 'replay'] as const;
export type Service = (typeof services)[number];

export interface EventSpec<T extends string = string, S extends z.ZodType = z.ZodType> {
  readonly type: T;
  /** Topic without prefix; `tasks.dispatched.<class>` stands for one topic per task class. */
  readonly topic: string;
  readonly key: 'run' | 'task';
  readonly from: readonly Service[];
  readonly to: readonly Service[];
  readonly doc: string;
  readonly schema: S;
}

/**
 * An event as handlers see it. On the log the CloudEvents attributes and `traceparent` are record headers
 * (binary mode) and `data` is the JSON body; a body above 64 KB is replaced there by a blob reference.
 */
export interface Event<T extends string = string, D = unknown> {
  /** Deterministic, semantic id; see `ids.ts`. */
  readonly id: string;
  readonly type: T;
  readonly runId: string;
  /** Topic without prefix. */
  readonly topic: string;
  /** Partition key: run id, or task id for dispatched tasks. */
  readonly key: string;
  /** Service that sent it. */
  readonly source: Service;
  /** When it was made, in milliseconds since 1970. */
  readonly time: number;
  readonly data: D;
  /** W3C trace context of the sender. */
  readonly traceparent?: string;
}

export type EventOf<E> = E extends EventSpec<infer T, infer S> ? Event<T, z.infer<S>> : never;

export const defineEvent = <T extends string, S extends z.ZodType>(spec: EventSpec<T, S>): EventSpec<T, S> => Object.freeze(spec);

export interface EventAddress {
  readonly id: string;
  readonly runId: string;
  readonly source: Service;
  readonly time: number;
  /** Required for events keyed by task. */
  readonly key?: string;
  /** Required for `tasks.dispatched.<class>`. */
  readonly taskClass?: string;
  readonly traceparent?: string;
}

export const topicOf = (spec: EventSpec, taskClass?: string): string => spec.topic.replace('<class>', taskClass ?? '');

/**
 * Makes an event of a declared type and checks its data against the schema: for data that comes in part from others, such as a client, a
 * model or an extension. Throws Failure EVENT_UNDECODABLE for invalid data.
 */
export function makeEvent<T extends string, S extends z.ZodType>(
  spec: EventSpec<T, S>,
  at: EventAddress,
  data: z.input<S>,
): Event<T, z.infer<S>> {
  const parsed = checkData(spec, data);
  if (!parsed.success) throw new Failure('EVENT_UNDECODABLE', `${spec.type} ${at.id}: ${z.prettifyError(parsed.error)}`);
  return eventOf(spec, at, parsed.data);
}

/** Makes an event from data that our own code has built completely. The data is not checked here; tests check it (`onTrustedData`). */
export function ownEvent<T extends string, S extends z.ZodType>(
  spec: EventSpec<T, S>,
  at: EventAddress,
  data: z.output<S>,
): Event<T, z.infer<S>> {
  trustData(spec, data);
  return eventOf(spec, at, data);
}

const eventOf = <T extends string, D>(spec: EventSpec<T>, at: EventAddress, data: D): Event<T, D> => ({
  id: at.id,
  type: spec.type,
  runId: at.runId,
  topic: topicOf(spec, at.taskClass),
  key: at.key ?? at.runId,
  source: at.source,
  time: at.time,
  data,
  ...(at.traceparent ? { traceparent: at.traceparent } : {}),
});
