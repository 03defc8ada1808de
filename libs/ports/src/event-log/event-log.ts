import type { Event } from '@conclave/contracts';
import type { DeadReason, OutgoingRecord, StoredRecord } from './record.js';

/**
 * The log that carries every step between two services. Adapters: memory, embedded (SQLite), Kafka. All of them pass
 * `event-log.contract.ts`; the delivery rules are in `delivery-pool.ts`.
 */
export interface EventLog {
  /**
   * Resolves when every event is durably accepted. A consumer may receive an event twice (same id). Throws Failure LOG_UNAVAILABLE (none or
   * some were accepted: publish again), STORE_FULL.
   */
  publish(events: readonly Event[]): Promise<void>;
  /**
   * Appends a record byte for byte, whatever it contains; for re-drives. Throws like `publish`. Every adapter implements it; a test log may
   * not.
   */
  publishRaw?(record: OutgoingRecord): Promise<void>;
  /**
   * Makes the bodies of every record of a run and of its child runs unreadable, now and for records that still arrive; ids, types and
   * hashes stay. `gone`: nobody can read them any longer. `kept`: this log cannot erase, so they stay until their retention ends. Throws
   * LOG_UNAVAILABLE, STORE_*: then repeat it.
   */
  erase(runId: string): Promise<'gone' | 'kept'>;
  /** One delivery per group, at least once. A new group starts at the beginning of its topics. */
  subscribe(subscription: Subscription): Promise<Consumption>;
  /** Number of records the group has not finished, by topic and partition. */
  lag(group: string): Promise<readonly Lag[]>;
  /**
   * Reads a topic from its beginning to its current end, without a group; for replay and people. Undecodable records have `event: null`.
   * Records outside the range may be left out.
   */
  read(topic: string, range?: ReadRange): AsyncIterable<StoredRecord>;
  /** The mark that names the state store of this log; null on a new log. */
  readonly identity: { read(): Promise<StoreMark | null>; write(mark: StoreMark): Promise<void> };
  /** Null while it can publish and fetch, otherwise a sentence that says what is wrong. */
  health(): Promise<string | null>;
  /**
   * Drains: stops fetching, waits for running handlers up to each subscription's grace, records finished work, disconnects. Safe to call
   * twice.
   */
  close(): Promise<void>;
}

/** The part of a topic that a reader needs. A log that cannot read a part may ignore it, because readers check each record themselves. */
export interface ReadRange {
  /** Keys of the records: a partitioned log reads only their partitions. */
  readonly keys?: readonly string[];
  /** Milliseconds since 1970, by the time at which the log accepted a record: the first and the last that are needed. */
  readonly since?: number;
  readonly until?: number;
}

/** All that is left of an erased record. */
export interface ErasedDelivery {
  readonly type: string;
  readonly runId: string;
}

export interface Subscription {
  /** Consumer group: one per service and task class. */
  readonly group: string;
  readonly topics: readonly string[];
  /** Maximum number of handlers running at the same time in this process. */
  readonly concurrency: number;
  /**
   * Maximum number of records held in memory, including those that wait for their next attempt; by default derived from the concurrency.
   */
  readonly held?: number;
  readonly handle: (delivery: Delivery) => Promise<HandlerOutcome>;
  /**
   * Events to publish instead when a record is dead-lettered (its error result, an abort of its run). `event` is null if it could not be
   * decoded.
   */
  readonly onDead?: (event: Event | null, reason: DeadReason) => Promise<readonly Event[]> | readonly Event[];
  /**
   * Called in place of `handle` for a record whose run was erased, before the record is finished: an earlier attempt at it may have been cut
   * off between writing elsewhere and noticing the erasure. Retried like `handle`; its events are not published.
   */
  readonly onErased?: (erased: ErasedDelivery) => Promise<HandlerOutcome>;
  /** Called with the outputs of a handler, once all of them are durably on the log. Must not throw. */
  readonly published?: (outputs: readonly Event[]) => void;
  readonly retry?: Partial<RetryPolicy>;
  /** Milliseconds `close` waits for running handlers; default 10,000. */
  readonly graceMs?: number;
}

export interface RetryPolicy {
  /** Deliveries of a failing record before it is dead-lettered; default 5. */
  readonly attempts: number;
  /** Milliseconds before the second delivery, doubled each time with jitter; default 200. */
  readonly backoffMs: number;
  /** Upper bound of the wait, also of one that a failure asks for (`retryAfterMs`); default 10,000. */
  readonly maxBackoffMs: number;
  /**
   * How many deliveries may end with the death of the process; after that the record is dead-lettered without being run. The last of them
   * is made while no other such record runs, and does not count if the handler only waited when the process died: then it is an attempt,
   * of which `attempts + processDeaths - 1` are made (`suspect-turns.ts`). Default 3.
   */
  readonly processDeaths: number;
}

export interface Delivery {
  readonly event: Event;
  readonly group: string;
  /** 1 for the first delivery. */
  readonly attempt: number;
  /** When the log accepted the record, in milliseconds since 1970. */
  readonly appendedAt: number;
  /** Whether a person had it delivered again after it became a dead letter. */
  readonly redriven?: boolean;
  /**
   * Aborts when the consumption is closing and its grace is over. Does not abort when the record's partition was lost: the handler
   * continues, so that a rebalance never repeats a model call, and nothing is recorded for it.
   */
  readonly signal: AbortSignal;
}

/** Events to publish before the record counts as done, or a deferral to a later time (costs no attempt and holds no slot while waiting). */
export type HandlerOutcome = readonly Event[] | Deferred;
export interface Deferred {
  readonly deferMs: number;
}
export const defer = (ms: number): HandlerOutcome => (ms === nothingLeft ? [] : { deferMs: ms });
/** Passed to `defer` instead of milliseconds: everything that follows from the record is on the log, so it is finished without outputs. */
export const nothingLeft = Number.POSITIVE_INFINITY;
export const isDeferred = (outcome: HandlerOutcome): outcome is Deferred => 'deferMs' in outcome;

export interface Consumption {
  readonly group: string;
  /** Null while it fetches; a sentence if it has not fetched for too long or an outage pauses it. */
  health(): string | null;
  load(): ConsumptionLoad;
  close(): Promise<void>;
}

export interface ConsumptionLoad {
  /** Running handlers. */
  readonly running: number;
  /** Records held in memory, running ones included. */
  readonly held: number;
  readonly pausedPartitions: number;
  /** When the log accepted the oldest held record that no handler has begun, in milliseconds since 1970; absent if there is none. */
  readonly waitingSince?: number;
}

export interface Lag {
  readonly topic: string;
  readonly partition: number;
  /** Records from the committed position to the end of the partition. */
  readonly records: number;
}

/**
 * `generation` grows each time an owner of the store starts or renews a lease in it, and is copied beside the log at intervals: a smaller
 * one in the store means an older copy.
 */
export interface StoreMark {
  readonly storeId: string;
  readonly generation: number;
}

/**
 * Durable count of deliveries that began and did not end, so that a record that kills its process is detected. An opener without a process
 * lease died while handling the record.
 */
export interface DeliveryLedger {
  /**
   * How many others have begun the record and not ended it, dead or alive. Records nothing. Throws STORE_UNAVAILABLE. Every adapter
   * implements it; a test store may not.
   */
  unended?(delivery: DeliveryKey): Promise<number>;
  /**
   * Records that this process begins the record. `deaths` counts openers known to be dead; `suspects` counts other openers whose lease is
   * still alive. Throws STORE_UNAVAILABLE.
   */
  begin(delivery: DeliveryKey): Promise<{ readonly attempts: number; readonly deaths: number; readonly suspects: number }>;
  /** The handler failed; the attempt stays counted. */
  failed(delivery: DeliveryKey): Promise<void>;
  /** The handler asked to be called later: removes both the attempt and the opener. */
  released(delivery: DeliveryKey): Promise<void>;
  /** The record is finished: removes all its counts. */
  done(delivery: DeliveryKey): Promise<void>;
}
export interface DeliveryKey {
  readonly group: string;
  /** `topic/partition/offset`, the same on every redelivery. */
  readonly record: string;
}

/** Points of a delivery at which a test build may end the process; the platform provides the hook. */
export type DeliveryPoint = 'after-poll' | 'before-publish' | 'after-publish' | 'after-commit';
export interface DeliveryHooks {
  point?(point: DeliveryPoint, delivery: { readonly group: string; readonly event: Event | null }): void;
  handled?(observation: DeliveryObservation): void;
  outage?(group: string, paused: boolean, error: unknown): void;
  /**
   * The log acknowledged these positions of a group: everything below them counts as done. Called only by logs that commit positions
   * separately.
   */
  committed?(group: string, positions: readonly CommittedPosition[]): void;
}
export interface CommittedPosition {
  /** Without prefix. */
  readonly topic: string;
  readonly partition: number;
  /** Decimal digits: the first unfinished record. */
  readonly offset: string;
}
export interface DeliveryObservation {
  readonly group: string;
  readonly topic: string;
  readonly type: string | null;
  readonly outcome: 'done' | 'retry' | 'deferred' | 'dead';
  /** Milliseconds from the append until this process first began the record. */
  readonly queueMs: number;
  readonly handleMs: number;
  readonly error?: unknown;
  /** Of a record that becomes a dead letter; the run as its headers name it. */
  readonly dead?: { readonly reason: DeadReason; readonly attempts: number; readonly runId: string | undefined };
}
