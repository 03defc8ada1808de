import type { Logger } from './logger.js';

/** What Node says about this process, such as a deprecation or a crowded emitter, as lines of the log instead of loose text on stderr. */
export function logNodeWarnings(logger: Pick<Logger, 'warn'>): void {
  // Node's own printer is a listener too, and the only one there at the start.
  process.removeAllListeners('warning');
  process.on('warning', (warning) => logger.warn(`Node warns: ${warning.name}: ${warning.message}`, { stack: warning.stack }));
}
