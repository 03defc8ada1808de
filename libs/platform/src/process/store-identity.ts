import { randomUUID } from 'node:crypto';
import { deadTopic, Failure } from '@conclave/contracts';
import type { EventLog, StateStore, StoreMark } from '@conclave/ports';
import type { Logger } from '../logging/logger.js';

/**
 * Compares the mark in the state store with the mark beside the log, then raises the generation in both. A new store and a new log get the
 * same mark. Throws Failure STORE_REPLACED if the store is empty or older than the log. In that case no record may be consumed: journal and
 * applied ids are gone, and finished calls would be paid again.
 *
 * Reads the log's mark first: a start writes the store's mark first, so that a store that is read later is never behind because of another
 * start.
 */
export async function claimStores(log: Pick<EventLog, 'identity'>, state: Pick<StateStore, 'identity'>): Promise<StoreMark> {
  const beside = await log.identity.read();
  const own = await state.identity.read();
  if (beside && !own) {
    throw new Failure('STORE_REPLACED', `The log belongs to store ${beside.storeId}; this state store is empty.`);
  }
  if (beside && own && beside.storeId !== own.storeId) {
    throw new Failure('STORE_REPLACED', `The log belongs to store ${beside.storeId}; this state store is ${own.storeId}.`);
  }
  if (beside && own && own.generation < beside.generation) {
    throw new Failure(
      'STORE_REPLACED',
      `This state store is an older copy: it has generation ${own.generation}, the log has ${beside.generation}.`,
    );
  }
  const mark = await state.identity.start(own?.storeId ?? randomUUID());
  await log.identity.write(mark);
  return mark;
}

export interface HeldMark {
  /** Writes the mark a last time. */
  end(): Promise<void>;
}

/**
 * Copies the store's mark to the log again, every minute by default and at the end, so that a copy of the store that is older than the last
 * write is detected even when no process remembers the store `claimed`.
 */
export function holdStoreMark(
  log: Pick<EventLog, 'identity'>,
  state: Pick<StateStore, 'identity'>,
  claimed: StoreMark,
  logger: Logger,
  everyMs = 60_000,
): HeldMark {
  let newest = claimed;
  let running: Promise<void> = Promise.resolve();
  const write = (): Promise<void> =>
    (running = state.identity
      .read()
      .then(async (mark) => {
        // The current mark may belong to the very copy that must be detected.
        if (mark?.storeId !== newest.storeId || mark.generation < newest.generation) return;
        newest = mark;
        await log.identity.write(mark);
      })
      .catch((error: unknown) => logger.warn('The mark of the state store could not be written to the log.', { error })));
  const timer = setInterval(() => void write(), everyMs);
  return {
    end: async () => {
      clearInterval(timer);
      await running;
      await write();
    },
  };
}

/**
 * Checks that journal, applied ids and tombstones are kept at least as long as any record that can be redelivered. Throws Failure
 * CONFIGURATION_INVALID with every topic whose retention is longer than `keptMs`, in milliseconds.
 */
export function checkRetention(topics: readonly { readonly name: string; readonly retentionMs: number }[], keptMs: number): void {
  const longer = topics.filter(({ retentionMs }) => retentionMs < 0 || retentionMs > keptMs);
  if (longer.length === 0) return;
  const named = longer
    .map(({ name, retentionMs }) => `${name} (${retentionMs < 0 ? 'forever' : `${Math.round(retentionMs / 3_600_000)} h`})`)
    .join(', ');
  throw new Failure(
    'CONFIGURATION_INVALID',
    `The state store keeps journal entries for ${Math.round(keptMs / 3_600_000)} h, but these topics keep records longer: ${named}. Lower their retention.ms with kafka-configs.sh (\`conclave topics plan\` prints the commands), or raise \`retention_days\` or the topic's own days under \`retention\`.`,
  );
}

/**
 * Checks that the audit is kept as long as the records of its runs. A rebuilt state store knows runs only by their audit, and would start a
 * run again if its request outlived its audit. Throws Failure CONFIGURATION_INVALID.
 */
export function checkAudit(topics: readonly { readonly name: string; readonly retentionMs: number }[]): void {
  const longer = outlivingAudit(topics);
  if (longer.length === 0) return;
  throw new Failure(
    'CONFIGURATION_INVALID',
    `The audit is kept for a shorter time than ${longer.join(', ')}: \`conclave recover\` would restart runs whose audit is gone. Raise retention.ms of the audit, or lower that of the others.`,
  );
}

/** Topics of runs that keep their records longer than the audit; -1 milliseconds means forever. */
export function outlivingAudit(topics: readonly { readonly name: string; readonly retentionMs: number }[]): readonly string[] {
  const ms = (retentionMs: number): number => (retentionMs < 0 ? Infinity : retentionMs);
  const audit = topics.find(({ name }) => name === 'audit');
  return audit
    ? topics.filter(({ name, retentionMs }) => name !== deadTopic && ms(retentionMs) > ms(audit.retentionMs)).map(({ name }) => name)
    : [];
}
