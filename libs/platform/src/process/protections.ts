import { protections, type Environment, type ProtectionName } from '@conclave/contracts';
import type { Logger } from '../logging/logger.js';
import type { History } from './history.js';

/** Protections switched off in this process; empty in production. */
export type Protections = ReadonlySet<ProtectionName>;

export const protectionsOff = ({ WITHOUT_PROTECTION = [] }: Pick<Environment, 'WITHOUT_PROTECTION'>): Protections =>
  new Set(WITHOUT_PROTECTION);

/** Logs what is lost and records it in the history. Does nothing if all protections are on. */
export function announceProtections(
  off: Protections,
  service: string,
  { logger, history }: { readonly logger: Logger; readonly history: History },
): void {
  for (const { name, lost } of protections) {
    if (!off.has(name)) continue;
    logger.warn(`WITHOUT_PROTECTION switches ${name} off: ${lost} This is only for tests.`, { protection: name });
    history.write({ actor: service, op: 'protection', phase: 'off', id: name });
  }
}
