import {
  endOnSignals,
  logNodeWarnings,
  openAdminServer,
  openObservers,
  openShutdown,
  type Loaded,
  type ChosenModels,
  type OpenProbe,
} from '@conclave/platform';
import { newProcessId, type OpenPortsOptions } from '@conclave/host';
import { Sessions, signInLink } from '@conclave/service-gateway';
import { broughtByExtensions } from '@conclave/strategies';
import { openSystem } from '../system.js';
import { openOwnDoors } from '../own-doors.js';
import { listen, type Listening } from '../listen.js';
import { startText } from '../start-text.js';
import { noteGateway } from './running-gateway.js';

export interface UpOptions {
  readonly loaded: Loaded;
  readonly out: { write(text: string): unknown };
  readonly terminal: { write(text: string): unknown };
  readonly localServers?: OpenPortsOptions['localServers'];
  /** Ends the process on SIGINT and SIGTERM from the very start. */
  readonly endOnSignals?: boolean;
  /** Gives other machines access, with a key created for them. */
  readonly lan?: boolean;
  /** Only tests pass one. */
  readonly openProbe?: OpenProbe | undefined;
}

const clusterNote = 'stores.kafka and stores.redis are for `npm run start:distributed`; this process keeps everything in its data folder.';
/** Address for `--lan`, unless HOST is set. */
const everyAddress = '0.0.0.0';
const shutdownLimitMs = 15_000;

export interface RunningServer {
  readonly listening: Listening;
  /** Port with /metrics; null unless ADMIN_PORT is set. */
  readonly adminPort: number | null;
  /** Returns the same promise to every caller. */
  close(): Promise<void>;
}

/** Starts everything in this process and prints the start text. Resolves once it listens. */
export async function up({
  loaded,
  out,
  terminal,
  localServers,
  endOnSignals: ends,
  lan = false,
  openProbe,
}: UpOptions): Promise<RunningServer> {
  const { HOST: chosen } = loaded.variables;
  const host = lan ? chosen || everyAddress : loaded.environment.HOST;
  const doors = openOwnDoors(loaded, { host, lan });
  const observers = openObservers({
    environment: loaded.environment,
    processId: newProcessId('standalone'),
    service: 'standalone',
    interactive: { home: loaded.home, terminal },
    openProbe,
  });
  // An extension that fails where nothing waits for it is such a warning.
  if (loaded.configuration.extensions.length > 0) logNodeWarnings(observers.logger);
  const shutdown = openShutdown(observers.logger);
  if (ends) endOnSignals(shutdown, observers.logger, { limitMs: shutdownLimitMs, onSignal: () => out.write('\nStopping ...\n') });
  try {
    const system = await openSystem({ loaded, observers, doors, ...(localServers ? { localServers } : {}) });
    shutdown.add('system', () => system.close());
    const { PORT, OPENAI_API_KEY, ADMIN_HOST, ADMIN_PORT } = loaded.environment;
    const { readiness, metrics } = observers;
    const admin = ADMIN_PORT === undefined ? null : await openAdminServer({ host: ADMIN_HOST, port: ADMIN_PORT, readiness, metrics });
    if (admin) {
      shutdown.add('admin server', () => admin.close());
      observers.logger.info('The admin port answers.', { port: admin.port });
    }
    const listening = await listen(system.gateway, host, PORT);
    shutdown.add('note', noteGateway(loaded.home, listening.url));
    const { choice, models, providers, warnings, templates } = system.catalogue.found();
    observers.logger.info('Ready.', { address: listening.url });
    out.write(
      startText({
        listening,
        home: loaded.home,
        file: loaded.file,
        models,
        providers,
        choice,
        templates: templates.map(({ id }) => id),
        extensions: broughtByExtensions().map(({ kind, name }) => `${kind} ${name}`),
        search: system.ports.search?.description ?? null,
        doors,
        signIn: doors.admin ? signInLink(listening.url, system.gateway.get(Sessions, { strict: false }), doors.admin.value) : null,
        loneKey: OPENAI_API_KEY !== undefined && !('openai' in loaded.configuration.providers),
        warnings: [...warnings, ...system.ports.warnings, ...(loaded.configuration.stores.kafka ? [clusterNote] : [])],
        question: questionFor(choice, system.ports.sampleQuestion),
      }),
    );
    return { listening, adminPort: admin?.port ?? null, close: () => shutdown.run() };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

/** A question any model can answer, used when the sample documents are not searched. */
const generalQuestion = 'What is the difference between TCP and UDP, and when does it matter?';

/** The question suggested at start-up: for the demo model, one about its sample documents. */
const questionFor = (choice: ChosenModels, sampleQuestion: string | null): string =>
  choice.because === 'demo' && sampleQuestion ? sampleQuestion : generalQuestion;
