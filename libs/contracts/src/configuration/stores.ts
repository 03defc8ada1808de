import * as z from 'zod';
import { defaultPartitions } from '../topics.js';
import { Address, EnvName } from './providers.js';

const Tls = z.union([
  z.boolean(),
  z.strictObject({
    ca_file: z.string().min(1).optional().describe('PEM file of the authority that signed the server'),
    cert_file: z.string().min(1).optional().describe('PEM file of our certificate'),
    key_file: z.string().min(1).optional().describe('PEM file of our private key'),
  }),
]);

const hostAndPort = (example: string) =>
  z
    .string()
    .regex(/^[^\s:/]+:\d{1,5}$/)
    .meta({ expected: `host:port, such as ${example}` });

export const BrokerAddress = hostAndPort('127.0.0.1:9092');

export const KafkaSettings = z.strictObject({
  brokers: z.array(BrokerAddress).min(1).describe('addresses of brokers'),
  ssl: Tls.default(false).describe('TLS: true, or files'),
  sasl: z
    .strictObject({
      mechanism: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).optional().describe('SASL mechanism; absent = no authentication'),
      user_env: EnvName.optional().describe('environment variable that holds the user'),
      password_env: EnvName.optional().describe('environment variable that holds the password'),
    })
    .default({})
    .describe('authentication'),
  client_id: z.string().min(1).default('conclave').describe('client id shown by the broker'),
  topic_prefix: z
    .string()
    .regex(/^[A-Za-z0-9._-]{0,100}$/)
    .meta({ expected: 'letters, digits, `.`, `_` and `-`' })
    .default('')
    .describe('prefix of every topic and group'),
  partitions: z.int().min(1).max(1000).default(defaultPartitions).describe('partitions of every run-keyed topic; chosen once'),
  replication: z.int().min(1).max(9).default(1).describe('copies of each record'),
  session_timeout_ms: z
    .int()
    .min(1_000)
    .max(300_000)
    .default(6_000)
    .describe('milliseconds after which a silent consumer loses its partitions; brokers accept 6000 or more by default'),
});

export const RedisSettings = z.strictObject({
  url: z
    .url({ protocol: /^rediss?$/ })
    .meta({ expected: 'redis://host:port or rediss://host:port' })
    .describe('address; rediss:// for TLS'),
  tls: Tls.default(false).describe('TLS: true, or files'),
  user_env: EnvName.optional().describe('environment variable that holds the user'),
  password_env: EnvName.optional().describe('environment variable that holds the password'),
  cluster: z.boolean().default(false).describe('the address is that of a node of a Redis Cluster; the other nodes are discovered'),
  sentinel: z
    .strictObject({
      master: z.string().min(1).max(200).describe('name of the primary, as in `sentinel monitor <name> ...`'),
      addresses: z
        .array(hostAndPort('127.0.0.1:26379'))
        .min(1)
        .describe('sentinels that are asked first, in this order; they name the others'),
      user_env: EnvName.optional().describe('environment variable that holds the user at the sentinels'),
      password_env: EnvName.optional().describe('environment variable that holds the password at the sentinels'),
    })
    .optional()
    .describe('Redis Sentinel, which names the primary: only scheme, login and database of `url` are used. TLS applies to both'),
  replicas: z
    .int()
    .min(0)
    .max(9)
    .default(0)
    .describe(
      'replicas that must have a write before it counts as done; with fewer, Redis counts as unavailable. Run one replica more than this',
    ),
  blob_quota_mb: z.int().min(1).max(1_000_000).default(1_024).describe('total size in MB of stored bodies above 64 KB'),
  key_prefix: z.string().max(100).default('conclave:').describe('prefix of every key'),
});

export const Neo4jSettings = z.strictObject({
  url: z
    .url({ protocol: /^(bolt|neo4j)(\+s|\+ssc)?$/ })
    .meta({ expected: 'bolt://host:port or neo4j://host:port, with +s for TLS' })
    .describe('address; bolt+s:// for TLS'),
  user_env: EnvName.default('NEO4J_USER').describe('environment variable that holds the user'),
  password_env: EnvName.default('NEO4J_PASSWORD').describe('environment variable that holds the password'),
  database: z.string().min(1).optional().describe('database; absent = the default one'),
});

export const ChromaSettings = z.strictObject({
  url: Address.describe('address'),
  token_env: EnvName.optional().describe('environment variable that holds the token'),
});

/** Letters that need no quoting in an address; `..` would leave the bucket. */
const ObjectPrefix = z
  .string()
  .regex(/^(?!.*\.\.)[A-Za-z0-9._/-]{0,200}$/)
  .meta({ expected: 'letters, digits, `.`, `_`, `-` and `/`' });

export const BlobSettings = z.strictObject({
  folder: z
    .string()
    .min(1)
    .optional()
    .describe(
      'folder of files, relative to this file; processes on several machines need the same one. Files are removed when they expire',
    ),
  s3: z
    .strictObject({
      url: Address.describe('address of the server, without the bucket'),
      bucket: z
        .string()
        .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
        .meta({ expected: 'the name of a bucket' })
        .describe('an existing bucket. Its lifecycle rules remove objects, after 30 days or later'),
      region: z.string().min(1).max(100).default('us-east-1').describe('region that requests are signed for'),
      prefix: ObjectPrefix.default('conclave/').describe('prefix of every name'),
      access_key_env: EnvName.default('AWS_ACCESS_KEY_ID').describe('environment variable that holds the id of the key'),
      secret_key_env: EnvName.default('AWS_SECRET_ACCESS_KEY').describe('environment variable that holds the secret of the key'),
    })
    .optional()
    .describe('a bucket of a server that speaks the API of S3'),
});

export const StoreSettings = z.strictObject({
  kafka: KafkaSettings.optional().describe('event log; needs `redis` beside it'),
  redis: RedisSettings.optional().describe('run state, journal, timers, run streams and blobs'),
  neo4j: Neo4jSettings.optional().describe('knowledge graph'),
  chroma: ChromaSettings.optional().describe('vectors'),
  blobs: BlobSettings.optional().describe(
    '`folder` or `s3`: uploaded documents and, with Kafka, large records; absent: the store of the runs',
  ),
});
export type StoreSettings = z.infer<typeof StoreSettings>;
export type TlsSettings = z.infer<typeof Tls>;
