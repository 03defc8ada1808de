import { Kafka, logLevel, type ISocketFactory, type KafkaConfig, type LogEntry, type SASLOptions } from 'kafkajs';
import type { TopicSpec } from '@conclave/contracts';
import {
  systemClock,
  type Blobs,
  type Clock,
  type DeliveryHooks,
  type DeliveryLedger,
  type PoolChange,
  type Seals,
  type Subscription,
} from '@conclave/ports';
import { stopIdleLoops } from './request-queue.js';
import { watchedSockets } from './watched-sockets.js';

/** Logger of the adapter; the platform's logger fits. */
export interface KafkaLogger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** How to reach the cluster. */
export interface KafkaConnectionOptions {
  /** `host:port` of one or more brokers. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** True for TLS with the system's authorities, or Node's TLS options (`ca`, `cert`, `key`). */
  readonly ssl?: KafkaConfig['ssl'];
  readonly sasl?: SASLOptions;
  /** Prefix of every topic and group name, so that several installations can share a cluster; default none. */
  readonly topicPrefix?: string;
  /** Milliseconds to wait for the answer to a request before the connection counts as dead; default 10,000. */
  readonly requestTimeoutMs?: number;
  /** Makes the sockets, for a tunnel or a proxy. */
  readonly socketFactory?: ISocketFactory;
  readonly logger?: KafkaLogger;
}

export interface KafkaLogOptions extends KafkaConnectionOptions {
  readonly blobs: Blobs;
  readonly ledger: DeliveryLedger;
  /** Seals the bodies of runs. Absent or null: bodies are not sealed. */
  readonly seals?: Seals | null;
  readonly hooks?: DeliveryHooks;
  /** Called by every delivery pool of this log. */
  readonly poolChange?: PoolChange;
  /** Tests: a record counts as done once handed over, to show what breaks without the offset tracker. Default false. */
  readonly commitsAtHandOver?: boolean;
  readonly clock?: Clock;
  /** Milliseconds after which a silent member loses its partitions; default 6,000, the broker's default minimum. */
  readonly sessionTimeoutMs?: number;
  /** Milliseconds a rebalance waits for a member; default the session timeout, at least 10,000. */
  readonly rebalanceTimeoutMs?: number;
  /** Milliseconds a fetch waits for records, and the longest delay of a resume; default 200, between 20 and 250. */
  readonly maxWaitMs?: number;
  /** Milliseconds without a fetch round after which `health` reports it; default 10,000. */
  readonly silentAfterMs?: number;
  /**
   * Maximum number of records a consumption holds; default four times its concurrency, at least 500: a paused partition needs `maxWaitMs`
   * to resume.
   */
  readonly maxHeld?: number;
}

export interface TopicOptions extends KafkaConnectionOptions {
  /** Partitions per topic, default 24; compacted topics have one. Do not change it later: more partitions move keys. */
  readonly partitions?: number;
  /** Copies of each partition; default 1. With 3 or more, two must have a record before it is acknowledged. */
  readonly replication?: number;
  readonly topics: readonly TopicSpec[];
}

export interface Timing {
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly heartbeatMs: number;
  readonly maxWaitMs: number;
  readonly silentAfterMs: number;
  /** Milliseconds without a fetch round after which the consumer is replaced. */
  readonly rebuildAfterMs: number;
  /** Milliseconds from a finished record to the commit; `commitRetryMs`: between two attempts of a failed commit. */
  readonly commitDelayMs: number;
  readonly commitRetryMs: number;
}

export function timingOf(options: KafkaLogOptions): Timing {
  const sessionTimeoutMs = options.sessionTimeoutMs ?? 6_000;
  const rebalanceTimeoutMs = options.rebalanceTimeoutMs ?? Math.max(10_000, sessionTimeoutMs);
  const silentAfterMs = options.silentAfterMs ?? 10_000;
  return {
    sessionTimeoutMs,
    rebalanceTimeoutMs,
    heartbeatMs: Math.min(3000, Math.floor(sessionTimeoutMs / 10)),
    maxWaitMs: Math.min(250, Math.max(20, options.maxWaitMs ?? 200)),
    silentAfterMs,
    rebuildAfterMs: rebalanceTimeoutMs + silentAfterMs,
    commitDelayMs: 100,
    commitRetryMs: 500,
  };
}

/** A client for group members: a broker may stay silent for a whole rebalance while others join. */
export const memberClient = (options: KafkaLogOptions): Kafka =>
  kafkaClient(options, (options.requestTimeoutMs ?? 10_000) + timingOf(options).rebalanceTimeoutMs);

export const maxHeldOf = (options: KafkaLogOptions, { held, concurrency }: Pick<Subscription, 'held' | 'concurrency'>): number =>
  options.maxHeld ?? held ?? Math.max(500, 4 * concurrency);
export const clockOf = (options: KafkaLogOptions): Clock => options.clock ?? systemClock;
export const prefixOf = (options: KafkaConnectionOptions): string => options.topicPrefix ?? '';

export const silent: KafkaLogger = { debug() {}, info() {}, warn() {}, error() {} };

/** Waits about 100, 200, 400, 800 and 1,600 ms between attempts. Spelled out, because kafkajs uses others under NODE_ENV=test. */
export const retry = { retries: 5, initialRetryTime: 100, maxRetryTime: 2000, factor: 0.2, multiplier: 2 };

/** `silentMs`: milliseconds after which an unresponsive connection is replaced; group members add their rebalance timeout. */
export function kafkaClient(options: KafkaConnectionOptions, silentMs = options.requestTimeoutMs ?? 10_000): Kafka {
  const { brokers, clientId, ssl, sasl, requestTimeoutMs = 10_000, socketFactory, logger = silent } = options;
  stopIdleLoops();
  return new Kafka({
    brokers: [...brokers],
    clientId,
    connectionTimeout: 3000,
    authenticationTimeout: 10_000,
    requestTimeout: requestTimeoutMs,
    enforceRequestTimeout: true,
    retry,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => tell(logger, entry),
    ...(ssl === undefined ? {} : { ssl }),
    // A copy, because kafkajs mutates it.
    ...(sasl === undefined ? {} : { sasl: { ...sasl } }),
    socketFactory: watchedSockets(silentMs, socketFactory),
  });
}

/** kafkajs logs as errors what recovers by itself (a broken connection, a rejoin); the watchdog reports what does not. */
function tell(
  logger: KafkaLogger,
  { namespace, log: { message, logger: _name, timestamp: _time, stack: _stack, ...fields } }: LogEntry,
): void {
  logger.debug(`kafkajs ${namespace}: ${message}`, fields);
}
