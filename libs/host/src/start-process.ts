import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { defaultTimeouts, Failure } from '@conclave/contracts';
import {
  claimStores,
  endOnSignals,
  holdProcessLease,
  holdStoreMark,
  loadConfiguration,
  logNodeWarnings,
  openAdminServer,
  openObservers,
  openShutdown,
  outliveReaders,
  retryWhileStarting,
  serve,
  type Loaded,
  type LoadedExtension,
  type Observers,
  type OpenProbe,
  type ProcessIdentity,
  type ServeOptions,
  type Shutdown,
  type Variables,
} from '@conclave/platform';
import type { StoreMark } from '@conclave/ports';
import { openPorts, type OpenedPorts } from './open-ports.js';
import { openTracer } from './open-tracer.js';
import type { AppName } from './opening.js';
import { publishToolOffers } from './publish-tool-offers.js';

/** A further service, and how its records are handled. */
export type Also = Pick<ServeOptions, 'module' | 'retry' | 'concurrency'>;

export interface ProcessOptions {
  readonly service: Exclude<AppName, 'standalone'>;
  readonly variables: Variables;
  readonly cwd: string;
  /** Set only by tests. */
  readonly openProbe?: OpenProbe | undefined;
  /** Task classes this process serves. */
  readonly classes?: (loaded: Loaded) => readonly string[];
  /** Expert categories with a prompt, for checking templates. */
  readonly categories?: readonly string[];
  /** Checks the configuration before anything is opened; a thrown error ends the process. */
  readonly check?: (loaded: Loaded) => void;
  /** Loads the modules configured as extensions, and returns what they brought; called only if there are any. */
  readonly extend?: (configuration: Loaded['configuration']) => Promise<readonly LoadedExtension[]>;
  /** The service's module on the log; absent if the service consumes nothing. */
  readonly module?: (loaded: Loaded) => ServeOptions['module'];
  /**
   * Further services of this process on the same stores, by name, null if not needed. Each has its own consumer group and no task class.
   */
  readonly also?: Readonly<Record<string, (loaded: Loaded) => Also | null>>;
  /** Runs beside the module, such as an HTTP server. Its `close` runs first at shutdown. */
  readonly beside?: (process: RunningProcess) => Promise<{ close(): Promise<void> }>;
}

export interface RunningProcess {
  readonly loaded: Loaded;
  readonly observers: Observers;
  readonly ports: OpenedPorts;
  readonly identity: ProcessIdentity;
  readonly shutdown: Shutdown;
}

/** Seconds; more than the default time limit of a task, less than the grace period of the containers. */
const defaultGraceS = defaultTimeouts.task_timeout_s + 5;
/** Maximum milliseconds for returning unfinished work to the log after the grace period, and for closing the stores. */
const closingMs = 15_000;

/** Id of a process: new at every start, because it owns leases and deliveries. */
export const newProcessId = (service: string): string => `${service}-${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;

/**
 * Runs one service as its own process until a signal ends it: configuration, admin port, stores, lease, module. If the state store is empty
 * or older than the log, the process stays up, unhealthy and idle. Other failures at the start end it with a sentence and exit code 1.
 */
export async function runProcess(options: ProcessOptions): Promise<void> {
  outliveReaders();
  try {
    await startProcess(options);
  } catch (error) {
    process.stderr.write(
      `${error instanceof Failure ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  }
}

async function startProcess(options: ProcessOptions): Promise<void> {
  const { service } = options;
  const { categories } = options;
  const loaded = loadConfiguration(options.variables, options.cwd, {
    sharesStores: true,
    secretsOf: service,
    ...(categories ? { categories } : {}),
  });
  const extensions = loaded.configuration.extensions.length > 0 ? ((await options.extend?.(loaded.configuration)) ?? []) : [];
  options.check?.(loaded);
  const identity: ProcessIdentity = { id: newProcessId(service), classes: options.classes?.(loaded) ?? [] };
  const watched = openObservers({ environment: loaded.environment, processId: identity.id, service, openProbe: options.openProbe });
  const { logger, readiness, metrics } = watched;
  logNodeWarnings(logger);
  if (extensions.length > 0) logger.info('Extensions were loaded.', { extensions });
  const shutdown = openShutdown(logger);
  const tracer = await openTracer(loaded, service, logger);
  if (tracer) shutdown.add('traces', () => tracer.close());
  const observers: Observers = { ...watched, tracer };
  const graceMs = (loaded.environment.SHUTDOWN_GRACE_S ?? defaultGraceS) * 1_000;
  endOnSignals(shutdown, logger, { limitMs: graceMs + closingMs, onSignal: () => readiness.stopping() });

  let started = false;
  let problem = 'is starting.';
  readiness.add('start', () => (started ? null : problem));
  const { ADMIN_PORT, ADMIN_HOST } = loaded.environment;
  if (ADMIN_PORT !== undefined) {
    const admin = await openAdminServer({ host: ADMIN_HOST, port: ADMIN_PORT, readiness, metrics, extensions });
    shutdown.add('admin server', () => admin.close());
    logger.info('The admin port answers.', { port: admin.port });
  }

  const ports = await retryWhileStarting(() => openPorts({ loaded, observers, service, processId: identity.id }), logger);
  shutdown.add('stores', () => ports.close());
  for (const warning of ports.warnings) logger.warn(warning);
  const mark = await claimedStores(ports, observers, (replaced) => (problem = replaced));
  logger.info('Log and state store belong together.', { store: mark.storeId, generation: mark.generation });
  readiness.add('log', () => ports.log.health());
  readiness.add('state store', () => ports.state.health());
  const { graph } = ports;
  // A service that only reads the graph can continue without it.
  if (graph && service === 'graph-ingest') readiness.add('graph', () => graph.health());
  const lease = await holdProcessLease(ports.state.leases, { id: identity.id, service, classes: identity.classes }, logger);
  readiness.add('lease', lease.health);
  shutdown.add('lease', () => lease.end());
  // One service is enough: the one that owns the state of the runs.
  if (service === 'merger') {
    const held = holdStoreMark(ports.log, ports.state, mark, logger);
    shutdown.add('store mark', () => held.end());
  }
  if (options.module) {
    const concurrency = taskConcurrency(loaded);
    const served = await serve({ service, module: options.module(loaded), ports, observers, process: identity, graceMs, concurrency });
    shutdown.add('service', () => served.close());
  }
  for (const [name, module] of Object.entries(options.also ?? {})) {
    const own = module(loaded);
    if (!own) continue;
    const served = await serve({ service: name, ...own, ports, observers, process: { ...identity, classes: [] }, graceMs });
    shutdown.add(name, () => served.close());
  }
  const beside = await options.beside?.({ loaded, observers, ports, identity, shutdown });
  if (beside) shutdown.add('http', () => beside.close());
  if (service === 'experts') {
    const published = publishToolOffers({ configuration: loaded.configuration, ports, logger });
    shutdown.add('tool offers', () => published.close());
  }
  started = true;
  logger.info('Ready.', { classes: identity.classes });
}

/** Milliseconds between two checks of a replaced store. */
const replacedPollMs = 2_000;

/**
 * The mark that log and state store share. While the store is empty or older than the log, calls `red` with the reason and waits until it
 * is rebuilt.
 */
async function claimedStores(ports: OpenedPorts, { logger }: Observers, red: (sentence: string) => void): Promise<StoreMark> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await retryWhileStarting(() => claimStores(ports.log, ports.state), logger);
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'STORE_REPLACED')) throw error;
      red(error.message);
      if (looks === 1) logger.error('Nothing is consumed.', { error });
    }
    await delay(replacedPollMs);
  }
}

/** Concurrent tasks by class, if configured. */
export const taskConcurrency = ({ configuration }: Loaded): { readonly tasks: Readonly<Record<string, number>> } => ({
  tasks: Object.fromEntries(
    Object.entries(configuration.task_classes).flatMap(([name, { concurrency }]) =>
      concurrency === undefined ? [] : [[name, concurrency]],
    ),
  ),
});
