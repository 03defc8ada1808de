import { readFileSync } from 'node:fs';
import { Failure, keptRunMs, leastBodyMs, type Retention, shippedClasses, topicsFor, type TopicSpec } from '@conclave/contracts';
import type { Loaded, Logger, Probe, TlsFiles } from '@conclave/platform';
import { masterKeysOf, RunSeals, type SealKeys, type Seals } from '@conclave/ports';

/** Registers a resource to be closed later. */
export type Keep = <T extends { close(): Promise<void> }>(one: T) => T;

/** Every topic of this configuration. */
export const topicsOf = ({ configuration }: Loaded): readonly TopicSpec[] =>
  topicsFor([...new Set([...shippedClasses, ...Object.keys(configuration.task_classes)])], retentionIn({ configuration }));

/** How long topics keep their records. */
export function retentionIn({ configuration }: Pick<Loaded, 'configuration'>): Retention {
  const { retention_days, retention } = configuration;
  return { retention_days, retention };
}

/** How long the state store keeps ended runs, journal, applied ids and tombstones, in milliseconds. */
export const keptMsOf = (loaded: Loaded): number => keptRunMs(topicsOf(loaded));
/** How long bodies are kept that are stored separately from their records, in milliseconds. */
export const bodyMsOf = (loaded: Loaded): number => Math.max(leastBodyMs, ...topicsOf(loaded).map(({ retentionMs }) => retentionMs));

/** Opens Redis as configured. Throws Failure CONFIGURATION_INVALID, STORE_UNAVAILABLE. */
export async function openRedis(loaded: Loaded, processId: string, keep: Keep, probe?: Probe) {
  const { redis } = loaded.configuration.stores;
  if (!redis) throw new Failure('CONFIGURATION_INVALID', 'Kafka needs Redis: set stores.redis.url or REDIS_URL.');
  // Loaded on demand: without the clients of Redis and Kafka, embedded mode starts one second faster.
  const { openRedisState } = await import('@conclave/adapter-redis');
  const tls = tlsOptions(loaded.secrets.redis.tls);
  return keep(
    await openRedisState({
      url: withLogin(redis.url, loaded.secrets.redis),
      ...(tls ? { tls: tls === true ? {} : tls } : {}),
      cluster: redis.cluster,
      replicas: redis.replicas,
      ...(redis.sentinel ? { sentinel: { ...redis.sentinel, ...loaded.secrets.redis.sentinel } } : {}),
      blobQuotaBytes: redis.blob_quota_mb * 1024 * 1024,
      processId,
      keyPrefix: redis.key_prefix,
      ttl: { retentionMs: keptMsOf(loaded), blobMs: bodyMsOf(loaded) },
      ...probe?.adapters?.state,
    }),
  );
}

/** Kafka connection settings from the configuration. Throws Failure CONFIGURATION_INVALID. */
export function kafkaConnection(loaded: Loaded, logger: Logger) {
  const { kafka } = loaded.configuration.stores;
  if (!kafka) throw new Failure('CONFIGURATION_INVALID', 'stores.kafka is not set.');
  const { mechanism } = kafka.sasl;
  const { user = '', password = '' } = loaded.secrets.kafka;
  return {
    brokers: kafka.brokers,
    clientId: kafka.client_id,
    ssl: tlsOptions(loaded.secrets.kafka.tls),
    ...(mechanism ? { sasl: { mechanism, username: user, password } as never } : {}),
    topicPrefix: kafka.topic_prefix,
    logger,
  };
}

/** The seals for bodies of runs; null without a master key. Throws Failure CONFIGURATION_INVALID. */
export function sealsOf(loaded: Pick<Loaded, 'environment'>, keys: SealKeys): Seals | null {
  const masters = mastersOf(loaded);
  return masters.length > 0 ? new RunSeals(keys, masters) : null;
}

/** Master keys: the first one seals, and all of them open. Empty if none is configured. Throws Failure CONFIGURATION_INVALID. */
export function mastersOf({ environment }: Pick<Loaded, 'environment'>): readonly Buffer[] {
  const { CONCLAVE_SEAL_KEY_FILE: file, CONCLAVE_SEAL_KEY: text } = environment;
  const given = file === undefined ? text : textOf(file);
  if (given === undefined) return [];
  const masters = masterKeysOf(given);
  if (masters) return masters;
  const where = file === undefined ? 'CONCLAVE_SEAL_KEY' : `CONCLAVE_SEAL_KEY_FILE (${file})`;
  throw new Failure('CONFIGURATION_INVALID', `${where} must contain distinct keys of 32 bytes: \`openssl rand -base64 32\` makes one.`);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure('CONFIGURATION_INVALID', `CONCLAVE_SEAL_KEY_FILE: ${file} cannot be read.`, { cause: error });
  }
}

const tlsOptions = (tls: boolean | TlsFiles): boolean | TlsFiles => tls;

/** The address with user and password from their variables. */
function withLogin(url: string, { user, password }: { readonly user?: string; readonly password?: string }): string {
  if (!password) return url;
  const address = new URL(url);
  address.username = encodeURIComponent(user ?? '');
  address.password = encodeURIComponent(password);
  return address.toString();
}
