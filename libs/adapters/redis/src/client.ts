import type { ConnectionOptions } from 'node:tls';
import { Redis, type Cluster, type RedisOptions } from 'ioredis';

/** Redis Sentinel, which names the primary. */
export interface Sentinels {
  /** Name of the primary. */
  readonly master: string;
  /** host:port */
  readonly addresses: readonly string[];
  /** Login for the sentinels. */
  readonly user?: string;
  readonly password?: string;
}

export interface ConnectionSettings {
  /** `redis://` or `rediss://`, with credentials and database number where needed. */
  readonly url: string;
  /** Certificates and names for TLS; TLS is used when this or `rediss://` is given. */
  readonly tls?: ConnectionOptions;
  /** Whether the address is a node of a Redis Cluster, through which the others are found. Default false. */
  readonly cluster?: boolean;
  /** Absent: the primary is at `url`. Otherwise only its scheme, login and database count. */
  readonly sentinel?: Sentinels;
  /** Replicas that must have a write before it is acknowledged. Default 0: only the primary. */
  readonly replicas?: number;
  /** Milliseconds after which an unanswered command fails with STORE_UNAVAILABLE. */
  readonly commandTimeoutMs: number;
}

/** Milliseconds before the n-th reconnect, with jitter. */
const retryDelay = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 6), 1_000) * (0.5 + Math.random() / 2);

/** The client of one server, of the primary that sentinels name, or of a cluster found through one of its nodes. */
export function openClient(settings: ConnectionSettings): Redis | Cluster {
  const options = clientOptions(settings);
  if (!settings.cluster) return new Redis(settings.url, { ...options, reconnectOnError: isReplaced, ...sentinelOptions(settings) });
  const { hostname, port, protocol, username, password } = new URL(settings.url);
  // Through the class: a bundle does not find the named export.
  return new Redis.Cluster([{ host: hostname, port: Number(port || 6379) }], {
    redisOptions: {
      ...options,
      ...(username ? { username: decodeURIComponent(username) } : {}),
      ...(password ? { password: decodeURIComponent(password) } : {}),
      ...(protocol === 'rediss:' ? { tls: settings.tls ?? {} } : {}),
    },
    // Keeps host names unresolved, because certificates are issued for names.
    dnsLookup: (address, found) => found(null, address),
    clusterRetryStrategy: retryDelay,
    slotsRefreshTimeout: settings.commandTimeoutMs,
  });
}

/**
 * Whether the server has become a replica, or is cut off from its replicas, so that there may be another primary, which a new connection finds. The
 * command itself fails.
 */
const isReplaced = ({ message }: Error): boolean => /\b(READONLY|NOREPLICAS)\b/.test(message);

function sentinelOptions({ url, tls, sentinel, commandTimeoutMs }: ConnectionSettings): RedisOptions {
  if (!sentinel) return {};
  const secured = tls ?? (url.startsWith('rediss:') ? {} : undefined);
  return {
    name: sentinel.master,
    sentinels: sentinel.addresses.map((address) => {
      const [host, port] = address.split(':');
      return { host: host!, port: Number(port) };
    }),
    ...(sentinel.user ? { sentinelUsername: sentinel.user } : {}),
    ...(sentinel.password ? { sentinelPassword: sentinel.password } : {}),
    ...(secured ? { tls: secured, sentinelTLS: secured, enableTLSForSentinelMode: true } : {}),
    sentinelCommandTimeout: commandTimeoutMs,
    // `failoverDetector` stays off: a sentinel that announces a new primary while the client is looking for it would end the client
    // permanently. Without it, a primary that hangs is left when a command is not answered.
    sentinelRetryStrategy: retryDelay,
  };
}

const clientOptions = ({ tls, commandTimeoutMs }: ConnectionSettings): RedisOptions => ({
  commandTimeout: commandTimeoutMs,
  connectTimeout: commandTimeoutMs,
  // Milliseconds to close a connection; the client waits this long even if it is already gone.
  disconnectTimeout: 200,
  // Replaces a connection that accepts commands and never answers.
  socketTimeout: commandTimeoutMs,
  // Commands wait for the reconnect until their own timeout, however many attempts it takes.
  maxRetriesPerRequest: null,
  retryStrategy: retryDelay,
  ...(tls ? { tls } : {}),
});
