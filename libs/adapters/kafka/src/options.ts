import { Kafka, logLevel, type ISocketFactory, type KafkaConfig, type LogEntry, type SASLOptions } from 'kafkajs';
import type { TopicSpec } from '@conclave/contracts';
import { systemClock, type Blobs, type Clock, type DeliveryHooks, type DeliveryLedger, type PoolChange } from '@conclave/ports';
import { watchedSockets } from './watched-sockets.js';

/** What the adapter tells people; the platform's logger fits. */
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
  /** Put before the name of every topic and group, so that several installations share a cluster; default none. */
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
  readonly hooks?: DeliveryHooks;
  /** Of every delivery pool of this log. */
  readonly poolChange?: PoolChange;
  /** Tests: a record counts as done as soon as it is handed over, so that a check can see what the offset tracker is for. Default false. */
  readonly commitsAtHandOver?: boolean;
  readonly clock?: Clock;
  /** Milliseconds after which a silent member loses its partitions; default 6,000, the least a broker takes unless told otherwise. */
  readonly sessionTimeoutMs?: number;
  /** Milliseconds the others wait for a member in a rebalance; default the session timeout, at least 10,000. */
  readonly rebalanceTimeoutMs?: number;
  /** Milliseconds a fetch waits for records, which is also how long a resume may take; default 200, between 20 and 250. */
  readonly maxWaitMs?: number;
  /** Milliseconds without a fetch round after which `health` says so; default 10,000. */
  readonly silentAfterMs?: number;
  /** Records a consumption holds at most; default four times its concurrency, at least 500: a partition that was paused takes `maxWaitMs` to flow again. */
  readonly maxHeld?: number;
}

export interface TopicOptions extends KafkaConnectionOptions {
  /** Partitions of every topic but the compacted ones, which have one; default 24. Chosen once: more partitions later move keys. */
  readonly partitions?: number;
  /** Copies of each partition; default 1. With 3 or more, two of them must have a record before it is acknowledged. */
  readonly replication?: number;
  readonly topics: readonly TopicSpec[];
}

export interface Timing {
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly heartbeatMs: number;
  readonly maxWaitMs: number;
  readonly silentAfterMs: number;
  /** Milliseconds without a fetch round after which the consumer is built anew. */
  readonly rebuildAfterMs: number;
  /** Milliseconds between a finished record and the commit, and between two tries of a commit that failed. */
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
    commitDelayMs: 20,
    commitRetryMs: 500,
  };
}

/** A client for members of groups: while the others join, a broker may answer nothing for a whole rebalance. */
export const memberClient = (options: KafkaLogOptions): Kafka =>
  kafkaClient(options, (options.requestTimeoutMs ?? 10_000) + timingOf(options).rebalanceTimeoutMs);

export const maxHeldOf = (options: KafkaLogOptions, concurrency: number): number => options.maxHeld ?? Math.max(500, 4 * concurrency);
export const clockOf = (options: KafkaLogOptions): Clock => options.clock ?? systemClock;
export const prefixOf = (options: KafkaConnectionOptions): string => options.topicPrefix ?? '';

export const silent: KafkaLogger = { debug() {}, info() {}, warn() {}, error() {} };

/** Waits about 100, 200, 400, 800 and 1,600 ms between tries; said in full, because kafkajs takes others under NODE_ENV=test. */
export const retry = { retries: 5, initialRetryTime: 100, maxRetryTime: 2000, factor: 0.2, multiplier: 2 };

/** `silentMs`: milliseconds after which a connection that answers nothing is replaced; those of members need their rebalance on top. */
export function kafkaClient(options: KafkaConnectionOptions, silentMs = options.requestTimeoutMs ?? 10_000): Kafka {
  const { brokers, clientId, ssl, sasl, requestTimeoutMs = 10_000, socketFactory, logger = silent } = options;
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
    // A copy: kafkajs writes into what it is given.
    ...(sasl === undefined ? {} : { sasl: { ...sasl } }),
    socketFactory: watchedSockets(silentMs, socketFactory),
  });
}

/** kafkajs calls an error what heals by itself (a broken connection, a rejoin); the watchdog speaks when it does not. */
function tell(
  logger: KafkaLogger,
  { namespace, log: { message, logger: _name, timestamp: _time, stack: _stack, ...fields } }: LogEntry,
): void {
  logger.debug(`kafkajs ${namespace}: ${message}`, fields);
}
