import { Failure, type Mode } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import type { Note } from './history-file.js';

/** A safeguard against loss, and what happens without it. */
export interface ProtectionSpec {
  readonly name: string;
  /** What is lost without it, one sentence. */
  readonly lost: string;
  /** Modes that have it and can switch it off. */
  readonly modes: readonly Mode[];
}

const both = ['embedded', 'distributed'] as const;

/**
 * Protections that a fault program switches off for WITHOUT_PROTECTION, to see whether the checks notice: a check that stays green without
 * the protection proves nothing.
 */
export const protections = [
  {
    name: 'offset-tracker',
    lost: 'A record counts as done as soon as it is delivered, so a process that dies while handling it loses it.',
    modes: both,
  },
  {
    name: 'applied-ids',
    lost: 'A redelivered event runs its step again, and the outputs of the first time are lost.',
    modes: both,
  },
  {
    name: 'compare-and-set',
    lost: 'When two steps change a run at the same time, the later one overwrites the earlier one.',
    modes: ['distributed'],
  },
  { name: 'journal', lost: 'A redelivered record makes and pays its finished model calls again.', modes: both },
  {
    name: 'attempts',
    lost: 'Late writes of an owner that was taken for dead count, and readers do not learn that the earlier text was superseded.',
    modes: both,
  },
  {
    name: 'timer-events',
    lost: 'A due timer is removed before it is on the log: a death or an outage in between leaves its run waiting forever.',
    modes: both,
  },
  {
    name: 'dead-letters',
    lost: 'A record that cannot be handled disappears without a dead letter and without the events that report it.',
    modes: both,
  },
  { name: 'stream-resume', lost: 'A reader that reconnects misses everything that was written while it was away.', modes: both },
  {
    name: 'backpressure',
    lost: 'A client that does not read gets everything like the others, and the gateway keeps it all in its memory.',
    modes: both,
  },
  {
    name: 'outage-pause',
    lost: 'An outage of our own stores counts as failed attempts and turns good records into dead letters.',
    modes: both,
  },
  { name: 'deadline-check', lost: 'Work is done and paid even if its deadline has passed or its run has ended.', modes: both },
  { name: 'store-identity', lost: 'An empty or older state store is used as if it were the current one.', modes: ['distributed'] },
  { name: 'process-deaths', lost: 'A record that kills its process kills every process that receives it, again and again.', modes: both },
  {
    name: 'erasure-marker',
    lost: 'Whoever still learns from a run, or has its end to deliver, does not notice that it was deleted, and keeps what it learned.',
    modes: both,
  },
  {
    name: 'document-changes',
    lost: 'An answer that is kept late does not notice that documents have changed since its run was asked.',
    modes: both,
  },
  {
    name: 'stored-settings',
    lost: 'A change of a key, a limit or a setting is confirmed before it is stored: a death right behind it loses it.',
    modes: both,
  },
  {
    name: 'durable-acks',
    lost: 'What is acknowledged is not awaited: a death right behind it loses what others already act on.',
    modes: ['embedded'],
  },
  { name: 'store-refusals', lost: 'A write for which a store has no room counts as stored.', modes: both },
  {
    name: 'lease-expiry',
    lost: 'The death or the sleep of a process is noticed only after half a minute, and its work waits for so long.',
    modes: ['distributed'],
  },
  { name: 'tolerant-reading', lost: 'A request with fields that this version does not know is refused.', modes: both },
  { name: 'search-failures', lost: 'A search that failed looks like one that found nothing.', modes: both },
  { name: 'graph-failures', lost: 'What the knowledge graph could not store counts as learned.', modes: both },
  { name: 'call-retries', lost: 'A call that a model server does not take at once has failed for good.', modes: both },
  { name: 'whole-replies', lost: 'A reply that broke off counts as the whole answer.', modes: both },
  { name: 'sweep', lost: 'A run whose gateway died between acceptance and publishing never starts.', modes: both },
] as const satisfies readonly ProtectionSpec[];

export type ProtectionName = (typeof protections)[number]['name'];
export const protectionNames: readonly ProtectionName[] = protections.map(({ name }) => name);

/** Protections switched off in a process. */
export type Protections = ReadonlySet<ProtectionName>;

/** Reads names separated by commas; an empty text means none. Throws Failure CONFIGURATION_INVALID for a name that is not on the list. */
export function protectionsOff(text = ''): Protections {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  const unknown = names.find((name) => !protectionNames.some((known) => known === name));
  if (unknown !== undefined)
    throw new Failure('CONFIGURATION_INVALID', `WITHOUT_PROTECTION has "${unknown}", expected names of ${protectionNames.join(', ')}.`);
  return new Set(names as ProtectionName[]);
}

/** Logs what is lost and records it in the history. */
export function announceProtections(
  off: Protections,
  service: string,
  { logger, note }: { readonly logger: Logger; readonly note: Note },
): void {
  for (const { name, lost } of protections) {
    if (!off.has(name)) continue;
    logger.warn(`WITHOUT_PROTECTION switches ${name} off: ${lost} This is only for tests.`, { protection: name });
    note({ actor: service, op: 'protection', phase: 'off', id: name });
  }
}
