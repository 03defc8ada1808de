import * as z from 'zod';
import { TaskClassName } from './configuration.js';
import { BrokerAddress } from './stores.js';

const list = <T extends z.ZodType<string, string>>(item: T) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .pipe(z.array(item).min(1));
/** Pairs as OpenTelemetry writes them in a variable: `name=value`, with commas between them, percent-encoded. */
const pairs = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((pair) => pair.trim())
      .filter(Boolean),
  )
  .pipe(z.array(z.string().regex(/^[^=]+=/)))
  .transform((all, context) => {
    try {
      return Object.fromEntries(
        all.map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), decodeURIComponent(pair.slice(pair.indexOf('=') + 1).trim())]),
      );
    } catch {
      context.addIssue({ code: 'custom', message: 'not percent-encoded' });
      return z.NEVER;
    }
  });
const collector = z
  .url({ protocol: /^https?$/ })
  .optional()
  .meta({ expected: 'an http or https address' });
const port = z.coerce.number().pipe(z.int().min(0).max(65_535)).meta({ expected: 'a port number from 0 to 65535' });

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Environment variables of all programs. An empty value counts as absent. */
export const Environment = z.object({
  PORT: port.optional().describe('port of the gateway; absent: 8080, or the next free port if it is taken'),
  HOST: z.string().min(1).default('127.0.0.1').describe('address the gateway listens on'),
  CONCLAVE_HOME: z.string().min(1).default('./.conclave').describe('data folder of embedded mode'),
  CONCLAVE_CONFIG: z
    .string()
    .min(1)
    .optional()
    .describe('configuration file to read instead of ./conclave.yaml or the one in the data folder'),
  CONCLAVE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({ expected: 'an http or https address' })
    .describe('gateway that the command line talks to'),
  CONCLAVE_API_KEY: z.string().min(1).optional().describe('API key that the command line sends to the gateway'),
  CONCLAVE_ADMIN_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'file with the key of the role admin; created at the first start if it is missing. Embedded mode: admin.key in the data folder',
    ),
  CONCLAVE_PERMIT_KEY: z
    .string()
    .min(32)
    .optional()
    .meta({ expected: 'a secret of at least 32 characters' })
    .describe('secret that signs the capability tokens of tasks, the same in mergers and experts; absent: one that the state store keeps'),
  CONCLAVE_SERVICE: z
    .enum(['gateway', 'planner', 'experts', 'merger', 'graph-ingest'])
    .optional()
    .describe(
      'service whose secrets this environment contains, for commands that run beside it: they then need no other secrets. Absent: those of all services; a service knows its own',
    ),
  CONCLAVE_SEAL_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'file with the master key that seals the bodies of runs on Kafka, so that a deletion makes them unreadable at once; the same in every process. `openssl rand -base64 32` makes one. Further lines hold former keys, which only open what they have sealed. Absent: not sealed',
    ),
  CONCLAVE_SEAL_KEY: z.string().min(1).optional().describe('the master key itself, instead of a file; former keys follow after commas'),
  CONCLAVE_AUDIT_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'file with the Ed25519 key (PEM) that signs exported audits; created at the first export if it is missing. Absent: audit.key in the data folder',
    ),
  OPENAI_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({ expected: 'an http or https address' })
    .describe('an OpenAI-compatible server, as provider `openai`'),
  OPENAI_API_KEY: z
    .string()
    .min(1)
    .optional()
    .describe('API key of OpenAI; used only if conclave.yaml names it or a client asks for model@openai'),
  HTTPS_PROXY: z
    .string()
    .min(1)
    .optional()
    .describe('proxy for model servers with an https address; a lower-case name works too, and ALL_PROXY for both'),
  HTTP_PROXY: z.string().min(1).optional().describe('proxy for model servers with an http address'),
  NO_PROXY: z
    .string()
    .min(1)
    .optional()
    .describe(
      'hosts that are reached without a proxy, separated by commas; this machine and all servers other than model servers are always reached without one',
    ),
  LOG_LEVEL: z.enum(logLevels).default('info').describe('minimum severity of logged lines'),
  CI: z.string().optional().describe('set on build machines: no colours, nothing interactive'),
  ADMIN_PORT: port
    .optional()
    .describe('port of a service for /metrics and for /health with its reasons; it needs no key. Absent: no metrics are served'),
  ADMIN_HOST: z.string().min(1).default('127.0.0.1').describe('address of the admin port; 0.0.0.0 in a container'),
  SHUTDOWN_GRACE_S: z.coerce
    .number()
    .pipe(z.number().min(0).max(3_600))
    .optional()
    .meta({ expected: 'seconds, from 0 to 3600' })
    .describe('seconds that running tasks of a service get after SIGTERM; unfinished ones then return to the log; 245 by default'),
  WORKER_CLASSES: list(TaskClassName)
    .optional()
    .meta({ expected: 'task classes with commas between them, each of small letters, digits and `-`' })
    .describe('task classes that this worker serves, with commas between them; expert and evidence by default'),
  KAFKA_BROKERS: list(BrokerAddress)
    .optional()
    .meta({ expected: 'host:port, several with commas between them' })
    .describe('replaces stores.kafka.brokers'),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{0,100}$/)
    .optional()
    .describe('replaces stores.kafka.topic_prefix'),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .optional()
    .meta({ expected: 'redis://host:port' })
    .describe('replaces stores.redis.url'),
  NEO4J_URL: z
    .url({ protocol: /^(bolt|neo4j)(\+s|\+ssc)?$/ })
    .optional()
    .meta({ expected: 'bolt://host:port' })
    .describe('replaces stores.neo4j.url'),
  NEO4J_USER: z.string().min(1).optional().describe('user of Neo4j'),
  NEO4J_PASSWORD: z.string().min(1).optional().describe('password of Neo4j'),
  SEARXNG_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({ expected: 'an http or https address' })
    .describe('replaces search.searxng'),
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.describe(
    'collector that gets the traces by OTLP over HTTP, such as http://127.0.0.1:4318; /v1/traces is appended. Absent: nothing is traced',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.describe('full address of the collector for traces, used unchanged'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs
    .optional()
    .meta({ expected: 'name=value, several with commas between them' })
    .describe('headers sent to the collector, such as authorization=Bearer%20secret'),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: pairs
    .optional()
    .meta({ expected: 'name=value, several with commas between them' })
    .describe('further headers, which take precedence over those'),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(['http/json', 'http/protobuf'])
    .optional()
    .describe('bodies are JSON in both cases, which every OTLP receiver accepts over HTTP; grpc is not supported'),
  OTEL_SERVICE_NAME: z
    .string()
    .min(1)
    .optional()
    .describe('name of this process in traces; absent: `conclave-` and its service, in embedded mode that of each service'),
  OTEL_RESOURCE_ATTRIBUTES: pairs
    .optional()
    .meta({ expected: 'name=value, several with commas between them' })
    .describe('attributes of this process in traces, such as deployment.environment.name=prod'),
  OTEL_TRACES_SAMPLER: z
    .enum(['always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'])
    .default('parentbased_always_on')
    .describe('which traces are recorded: the gateway decides for the whole run; `parentbased` follows a client that sends its own trace'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .pipe(z.number().min(0).max(1))
    .optional()
    .meta({ expected: 'a share from 0 to 1' })
    .describe('share of the traces recorded by `traceidratio`; 1 by default'),
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).default('false').describe('`true`: nothing is traced, whatever else is set'),
});
export type Environment = z.infer<typeof Environment>;
