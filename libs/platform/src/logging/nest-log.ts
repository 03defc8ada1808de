import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';

const text = (message: unknown): string =>
  message instanceof Error ? message.message : typeof message === 'string' ? message : JSON.stringify(message);

/** Nest's own messages in our log: messages about modules are DEBUG, warnings and errors keep their severity. */
export const nestLog = (logger: Logger): LoggerService => ({
  log: (message: unknown, ...rest: unknown[]) => logger.debug(text(message), { context: rest.at(-1) }),
  debug: (message: unknown, ...rest: unknown[]) => logger.debug(text(message), { context: rest.at(-1) }),
  verbose: (message: unknown, ...rest: unknown[]) => logger.debug(text(message), { context: rest.at(-1) }),
  warn: (message: unknown, ...rest: unknown[]) => logger.warn(text(message), { context: rest.at(-1) }),
  error: (message: unknown, ...rest: unknown[]) =>
    logger.error(text(message), { error: message instanceof Error ? message : undefined, context: rest.at(-1) }),
  fatal: (message: unknown, ...rest: unknown[]) =>
    logger.error(text(message), { error: message instanceof Error ? message : undefined, context: rest.at(-1) }),
});
