import type { Logger } from '../logging/logger.js';

export interface Shutdown {
  /** Steps run in reverse order: what was opened last is closed first. */
  add(name: string, close: () => Promise<void> | void): void;
  /** Runs every step once; a failing step is logged and the others still run. Returns the same promise to every caller. */
  run(): Promise<void>;
}

export function openShutdown(logger: Logger): Shutdown {
  const steps: { readonly name: string; readonly close: () => Promise<void> | void }[] = [];
  let running: Promise<void> | undefined;
  const runAll = async (): Promise<void> => {
    for (const { name, close } of steps.reverse()) {
      try {
        await close();
      } catch (error) {
        logger.error(`Closing ${name} failed.`, { error });
      }
    }
  };
  return {
    add: (name, close) => void steps.push({ name, close }),
    run: () => (running ??= runAll()),
  };
}

/**
 * Ends the process on SIGINT and SIGTERM after the steps have run: code 0, or 1 if they take longer than `limitMs`. A second signal ends it
 * at once with 130.
 */
export function endOnSignals(
  shutdown: Shutdown,
  logger: Logger,
  options: { readonly limitMs: number; readonly onSignal?: (signal: string) => void },
): void {
  let asked = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (asked) process.exit(130);
    asked = true;
    options.onSignal?.(signal);
    logger.info('Shutting down.', { signal });
    const limit = setTimeout(() => {
      logger.error(`Shutting down took longer than ${options.limitMs / 1000} s; the restart will finish the rest.`);
      process.exit(1);
    }, options.limitMs);
    limit.unref();
    void shutdown.run().then(() => process.exit(0));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}
