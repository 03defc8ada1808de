import type { Event } from '@conclave/contracts';
import type { DeadReason, OutgoingRecord, StoredRecord } from './record.js';

/**
 * The log every step between two services goes over. Adapters: memory, embedded (SQLite), Kafka.
 * All of them pass `event-log.contract.ts`; the delivery rules live once, in `delivery-pool.ts`.
 */
export interface EventLog {
  /**
   * Resolves when every event is durably accepted. Events may come twice to a consumer (same id).
   * Throws Failure LOG_UNAVAILABLE (nothing or a part of them was accepted: publish again), STORE_FULL.
   */
  publish(events: readonly Event[]): Promise<void>;
  /** Appends a record byte by byte, whatever it holds; for re-drives. Fails as `publish` does. Every adapter has it; a log of a test may not. */
  publishRaw?(record: OutgoingRecord): Promise<void>;
  /** One delivery per group, at least once. A group that is new starts from the beginning of its topics. */
  subscribe(subscription: Subscription): Promise<Consumption>;
  /** Records of the group's topics that it has not finished, by topic and partition. */
  lag(group: string): Promise<readonly Lag[]>;
  /**
   * Reads a topic from its beginning to its present end, without a group; for replay and people. Undecodable records come with
   * `event: null`. With a key, records of other keys may be left out: a log with partitions reads the one of this key alone.
   */
  read(topic: string, key?: string): AsyncIterable<StoredRecord>;
  /** The mark that says which state store belongs to this log; null on a new log. */
  readonly identity: { read(): Promise<StoreMark | null>; write(mark: StoreMark): Promise<void> };
  /** Null while it can publish and fetch, otherwise a sentence that says what is wrong. */
  health(): Promise<string | null>;
  /** Drains: stops fetching, waits up to the grace of each subscription for running handlers, records what is done, disconnects. Safe to call twice. */
  close(): Promise<void>;
}

export interface Subscription {
  /** Consumer group: one per service and task class. */
  readonly group: string;
  readonly topics: readonly string[];
  /** Handlers that run at the same time in this process. */
  readonly concurrency: number;
  readonly handle: (delivery: Delivery) => Promise<HandlerOutcome>;
  /** Events to publish instead when a record is put aside as dead (its error result, an abort of its run). `event` is null when it could not be decoded. */
  readonly onDead?: (event: Event | null, reason: DeadReason) => Promise<readonly Event[]> | readonly Event[];
  readonly retry?: Partial<RetryPolicy>;
  /** Milliseconds `close` waits for handlers that run; default 10,000. */
  readonly graceMs?: number;
}

export interface RetryPolicy {
  /** Deliveries of a failing record before it is dead-lettered; default 5. */
  readonly attempts: number;
  /** Milliseconds before the second delivery, doubled each time with jitter; default 200. */
  readonly backoffMs: number;
  /** Upper bound of the wait; default 10,000. */
  readonly maxBackoffMs: number;
  /** Deliveries that ended with the death of the process before the record is dead-lettered unrun; default 3. */
  readonly processDeaths: number;
}

export interface Delivery {
  readonly event: Event;
  readonly group: string;
  /** 1 for the first delivery. */
  readonly attempt: number;
  /** Milliseconds since 1970 when the log took the record. */
  readonly appendedAt: number;
  /**
   * Aborted when the consumption is closing and its grace is over. Not when the record's partition was lost: the handler goes on,
   * so that a rebalance never makes a model call again, and nothing is recorded for it.
   */
  readonly signal: AbortSignal;
}

/** Events to publish before the record counts as done, or a wish to be called again later (no attempt, no slot used while waiting). */
export type HandlerOutcome = readonly Event[] | Deferred;
export interface Deferred {
  readonly deferMs: number;
}
export const defer = (ms: number): Deferred => ({ deferMs: ms });
export const isDeferred = (outcome: HandlerOutcome): outcome is Deferred => 'deferMs' in outcome;

export interface Consumption {
  readonly group: string;
  /** Null while it fetches; a sentence when no fetch round happened for too long or it is paused by an outage. */
  health(): string | null;
  load(): ConsumptionLoad;
  close(): Promise<void>;
}

export interface ConsumptionLoad {
  /** Handlers that run. */
  readonly running: number;
  /** Records held in memory, running ones included. */
  readonly held: number;
  readonly pausedPartitions: number;
  /** Milliseconds since 1970 when the log took the oldest held record that no handler has begun yet; absent when there is none. */
  readonly waitingSince?: number;
}

export interface Lag {
  readonly topic: string;
  readonly partition: number;
  /** Records from the committed position to the end. */
  readonly records: number;
}

/** `generation` grows with every start of an owner of the store and every renewal of a lease in it, and is written beside the log now and then: a smaller one in the store means an older copy. */
export interface StoreMark {
  readonly storeId: string;
  readonly generation: number;
}

/**
 * Deliveries that began and did not end, counted durably, so that a record which kills its process is found out.
 * An opener whose process lease is gone died with the record in its hands.
 */
export interface DeliveryLedger {
  /** Notes that this process begins the record. `deaths` counts openers known dead; `suspects` those whose lease still lives but is not ours. Throws STORE_UNAVAILABLE. */
  begin(delivery: DeliveryKey): Promise<{ readonly attempts: number; readonly deaths: number; readonly suspects: number }>;
  /** The handler ended with an error; the attempt stays counted. */
  failed(delivery: DeliveryKey): Promise<void>;
  /** The handler asked to be called later: neither attempt nor opener stays. */
  released(delivery: DeliveryKey): Promise<void>;
  /** The record is finished: all counts go. */
  done(delivery: DeliveryKey): Promise<void>;
}
export interface DeliveryKey {
  readonly group: string;
  /** `topic/partition/offset`, stable over redeliveries. */
  readonly record: string;
}

/** Points of a delivery at which a test build may end the process; the hook is given by the platform. */
export type DeliveryPoint = 'after-poll' | 'before-publish' | 'after-publish' | 'after-commit';
export interface DeliveryHooks {
  point?(point: DeliveryPoint, delivery: { readonly group: string; readonly event: Event | null }): void;
  handled?(observation: DeliveryObservation): void;
  outage?(group: string, paused: boolean, error: unknown): void;
  /** The log acknowledged these positions of a group: everything below them counts as done. Only logs whose positions are a commit of their own tell. */
  committed?(group: string, positions: readonly CommittedPosition[]): void;
}
export interface CommittedPosition {
  /** Without prefix. */
  readonly topic: string;
  readonly partition: number;
  /** Decimal digits: the first record that is not finished. */
  readonly offset: string;
}
export interface DeliveryObservation {
  readonly group: string;
  readonly topic: string;
  readonly type: string | null;
  readonly outcome: 'done' | 'retry' | 'deferred' | 'dead';
  /** From the append until this process began the record for the first time. */
  readonly queueMs: number;
  readonly handleMs: number;
  readonly error?: unknown;
}
