import type { PythonEnvironment } from './python-environment.mjs';

/** A private instance of a real server. Ports and data survive `restart()`. */
export interface ServerInstance extends AsyncDisposable {
  readonly name: string;
  /** Current process id of the server; changes with `restart()`. */
  readonly pid: number;
  readonly ports: Readonly<Record<string, number>>;
  /** Data, settings and log of this instance. */
  readonly folder: string;
  readonly logFile: string;
  /** Its part of the stack's environment, such as `{ REDIS_URL }`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sends the signal, SIGKILL by default, and waits for the end (except for SIGSTOP and SIGCONT). Data stays. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** SIGTERM, then SIGKILL after a timeout. Data stays. Safe to call twice. */
  stop(): Promise<void>;
  /** Stops it if it runs, starts it on the same data and ports, resolves once it answers. */
  restart(): Promise<void>;
  /** Stops it and removes its data, unless `folder` was given. */
  destroy(): Promise<void>;
}

export interface InstanceOptions {
  /** Folder of its data; a temporary folder by default. */
  readonly folder?: string;
  /** Fixed ports by name (kafka, kafkaController, redis, neo4j, searx, chroma); free ones by default. */
  readonly ports?: Readonly<Record<string, number>>;
}

export interface KafkaOptions extends InstanceOptions {
  /** Additional or overridden broker settings: `{ 'log.retention.ms': '1000' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A second listener for a proxy: the broker listens on `proxiedPort` and sends its clients to `advertisedPort`. */
  readonly proxied?: { readonly advertisedPort: number; readonly listenPort?: number };
}

export interface SearchDocument {
  readonly url: string;
  readonly title: string;
  readonly body: string;
}

export interface Prerequisite {
  /** True when `up` can start it here. */
  readonly available: boolean;
  /** How `up` would run it. */
  readonly how: 'local' | 'docker' | 'none';
  /** True when the `start...` functions, which never use Docker, can run a private instance. */
  readonly local: boolean;
  /** What is missing and the command to install it, or what will be installed first; empty when nothing is missing. */
  readonly reason: string;
}

export type ServerName = 'kafka' | 'redis' | 'neo4j' | 'searx' | 'chroma';

export type KafkaInstance = ServerInstance & { readonly brokers: string[]; readonly proxiedPort: number | undefined };
export type UrlInstance = ServerInstance & { readonly url: string };
export type Neo4jInstance = UrlInstance & { readonly user: string; readonly password: string };

export function startKafka(options?: KafkaOptions): Promise<KafkaInstance>;
/** `arguments` are appended to those of redis-server: `['--maxmemory', '50mb']`. */
export function startRedis(options?: InstanceOptions & { readonly arguments?: readonly string[] }): Promise<UrlInstance>;
export function startNeo4j(options?: InstanceOptions & { readonly settings?: Readonly<Record<string, string>> }): Promise<Neo4jInstance>;
/** With neither `documents` nor `corpusDb` (a file with an FTS5 table docs(url, title, body)) it searches a few samples. */
export function startSearx(
  options?: InstanceOptions & { readonly documents?: readonly SearchDocument[]; readonly corpusDb?: string },
): Promise<UrlInstance>;
export function startChroma(options?: InstanceOptions): Promise<UrlInstance>;

/** `install: true`, like CI=true, counts what root can install with apt as available. */
export function prerequisites(options?: { readonly install?: boolean }): Promise<Record<ServerName, Prerequisite>>;

/** Addresses of the shared stack (KAFKA_BROKERS, REDIS_URL, NEO4J_URL, NEO4J_USER, NEO4J_PASSWORD, SEARXNG_URL), or null. */
export function stackEnvironment(): Record<string, string> | null;

/** Loopback ports outside the range of outgoing connections, so that a restarted server finds its port free. */
export function freePorts(count: number): Promise<number[]>;

export const versions: Readonly<Record<'kafka' | 'neo4j' | 'redis' | 'searxng' | 'searx' | 'chromadb', string>>;

/** Python with the clients of `tests/clients/python`. */
export const pythonClients: PythonEnvironment;
