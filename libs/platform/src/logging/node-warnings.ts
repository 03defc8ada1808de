import type { Logger } from './logger.js';

/** Logs Node's warnings about this process, such as a deprecation or too many listeners, instead of printing loose text on stderr. */
export function logNodeWarnings(logger: Pick<Logger, 'warn'>): void {
  // Node's own printer is the only listener at the start.
  process.removeAllListeners('warning');
  process.on('warning', (warning) => logger.warn(`Node warns: ${warning.name}: ${warning.message}`, { stack: warning.stack }));
}
