import { endOnSignals, openObservers, openShutdown, type Loaded, type Logger, type Shutdown } from '@conclave/platform';
import { newProcessId, type OpenPortsOptions } from '@conclave/adapter-selection';
import { openEngine } from '../engine.js';
import { listen, type Listening } from '../listen.js';
import { startText } from '../start-text.js';
import { noteGateway } from './running-gateway.js';
import { questionFor } from '../question.js';

export interface UpOptions {
  readonly loaded: Loaded;
  readonly out: { write(text: string): unknown };
  readonly terminal: { write(text: string): unknown };
  readonly localServers?: OpenPortsOptions['localServers'];
}

const shutdownLimitMs = 15_000;

/** Starts everything in this process and says so. Resolves once it listens. */
export async function up({ loaded, out, terminal, localServers }: UpOptions): Promise<{ readonly listening: Listening; readonly logger: Logger; readonly shutdown: Shutdown }> {
  const observers = openObservers({
    environment: loaded.environment,
    processId: newProcessId('standalone'),
    service: 'standalone',
    interactive: { home: loaded.home, terminal },
  });
  const shutdown = openShutdown(observers.logger);
  try {
    const engine = await openEngine({ loaded, observers, ...(localServers ? { localServers } : {}) });
    shutdown.add('engine', () => engine.close());
    const { HOST, PORT, OPENAI_API_KEY } = loaded.environment;
    const listening = await listen(engine.gateway, HOST, PORT);
    shutdown.add('note', noteGateway(loaded.home, listening.url));
    const { choice, models, providers, warnings, templates } = engine.catalogue.found();
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
        search: engine.ports.search?.description ?? null,
        loneKey: OPENAI_API_KEY !== undefined && !('openai' in loaded.configuration.providers),
        warnings: [...warnings, ...engine.ports.warnings],
        question: questionFor(choice, engine.ports.sampleQuestion),
      }),
    );
    return { listening, logger: observers.logger, shutdown };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

/** `up` until a signal ends it. */
export async function upUntilSignal(options: UpOptions): Promise<void> {
  const { logger, shutdown } = await up(options);
  endOnSignals(shutdown, logger, { limitMs: shutdownLimitMs, onSignal: () => options.out.write('\nStopping ...\n') });
}
