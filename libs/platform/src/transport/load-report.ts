import { leaseRenewMs, loadChannel, type Hints, type LoadReport } from '@conclave/ports';
import type { Logger } from '../logging/logger.js';
import type { ClassLoad } from './task-load.js';

/** Milliseconds that the last report may take. */
const goodbyeMs = 1_000;

/**
 * Tells every gateway how long the tasks of this worker wait, as often as leases are renewed. A report that is lost is made
 * up for by the next one; one that is not renewed expires at its reader. Gives what ends the reports.
 */
export function reportLoad(parts: {
  readonly hints: Hints;
  /** Of the process and the service in it. */
  readonly worker: string;
  readonly read: () => Readonly<Record<string, ClassLoad>>;
  readonly logger: Logger;
  readonly everyMs?: number;
}): () => Promise<void> {
  const { hints, worker, read, logger, everyMs = leaseRenewMs } = parts;
  let failing = false;
  let sending: Promise<void> = Promise.resolve();
  const send = (classes: LoadReport['classes']): void => {
    const report: LoadReport = { worker, classes };
    sending = hints.publish(loadChannel, JSON.stringify(report)).then(
      () => void (failing = false),
      (error: unknown) => {
        // Gateways then know nothing of us and admit runs, as they would without this report.
        if (!failing) logger.warn('The load of this worker could not be reported.', { error });
        failing = true;
      },
    );
  };
  send(read());
  const timer = setInterval(() => send(read()), everyMs);
  return async () => {
    clearInterval(timer);
    send({});
    await atMost(goodbyeMs, sending);
  };
}

/** A store that does not answer must not hold up a shutdown: the report expires by itself. */
function atMost(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
