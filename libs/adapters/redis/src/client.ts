import type { ConnectionOptions } from 'node:tls';
import { Redis, type Cluster, type RedisOptions } from 'ioredis';

export interface ConnectionSettings {
  /** `redis://` or `rediss://`, with credentials and database number where needed. */
  readonly url: string;
  /** Certificates and names for TLS; TLS is used when this or `rediss://` is given. */
  readonly tls?: ConnectionOptions;
  /** The address is of a node of a Redis Cluster; the others are found through it. Default false. */
  readonly cluster?: boolean;
  /** Milliseconds after which an unanswered command fails with STORE_UNAVAILABLE. */
  readonly commandTimeoutMs: number;
}

/** Milliseconds before the n-th attempt to connect again, with jitter. */
const retryDelay = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 6), 1_000) * (0.5 + Math.random() / 2);

/** The client of one server, or of a cluster that one of its nodes tells the others of. */
export function openClient(settings: ConnectionSettings): Redis | Cluster {
  const options = clientOptions(settings);
  if (!settings.cluster) return new Redis(settings.url, options);
  const { hostname, port, protocol, username, password } = new URL(settings.url);
  // By way of the class, because a bundle finds no other name of it.
  return new Redis.Cluster([{ host: hostname, port: Number(port || 6379) }], {
    redisOptions: {
      ...options,
      ...(username ? { username: decodeURIComponent(username) } : {}),
      ...(password ? { password: decodeURIComponent(password) } : {}),
      ...(protocol === 'rediss:' ? { tls: settings.tls ?? {} } : {}),
    },
    // Certificates are made for names; without TLS an address is an address.
    dnsLookup: (address, found) => found(null, address),
    clusterRetryStrategy: retryDelay,
    slotsRefreshTimeout: settings.commandTimeoutMs,
  });
}

const clientOptions = ({ tls, commandTimeoutMs }: ConnectionSettings): RedisOptions => ({
  commandTimeout: commandTimeoutMs,
  connectTimeout: commandTimeoutMs,
  // Milliseconds a closing connection may take; the client waits as long for one that is already gone.
  disconnectTimeout: 200,
  // A connection that takes commands and never answers is given up, so that a new one can be made.
  socketTimeout: commandTimeoutMs,
  // Commands wait for the reconnect until their own time is over, however many attempts that takes.
  maxRetriesPerRequest: null,
  retryStrategy: retryDelay,
  ...(tls ? { tls } : {}),
});
