import { randomUUID } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import type { EventLog, StateStore, StoreMark } from '@conclave/ports';
import type { Logger } from '../logging/logger.js';

/**
 * Compares the mark in the state store with the mark beside the log, then raises the generation in both.
 * A new store and a new log get one mark. Throws Failure STORE_REPLACED when the store is empty or older than the log:
 * nothing may be consumed then, because journal and applied ids are gone and finished calls would be paid again.
 *
 * The log's mark is read first: the store's is written first, so a store read later is never behind by a start of our own.
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
      `This state store is an older copy: generation ${own.generation}, the log knows ${beside.generation}.`,
    );
  }
  const mark = await state.identity.start(own?.storeId ?? randomUUID());
  await log.identity.write(mark);
  return mark;
}

export interface HeldMark {
  /** Writes it a last time. */
  end(): Promise<void>;
}

/**
 * Writes the mark of the store beside the log again, every minute unless said otherwise and at the end: when no process is left that
 * remembers the store `claimed`, a copy that is older than the last writing is still known as one.
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
        // What stands there now may be the copy that the mark is to betray.
        if (mark?.storeId !== newest.storeId || mark.generation < newest.generation) return;
        newest = mark;
        await log.identity.write(mark);
      })
      .catch((error: unknown) => logger.warn('The mark of the state store could not be written beside the log.', { error })));
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
 * Journal, applied ids and tombstones must live at least as long as anything that can bring their records back.
 * Throws Failure CONFIGURATION_INVALID with every topic whose retention is longer than `keptMs`.
 */
export function checkRetention(topics: readonly { readonly name: string; readonly retentionMs: number }[], keptMs: number): void {
  const longer = topics.filter(({ retentionMs }) => retentionMs < 0 || retentionMs > keptMs);
  if (longer.length === 0) return;
  const named = longer
    .map(({ name, retentionMs }) => `${name} (${retentionMs < 0 ? 'for ever' : `${Math.round(retentionMs / 3_600_000)} h`})`)
    .join(', ');
  throw new Failure(
    'CONFIGURATION_INVALID',
    `The state store keeps journal entries for ${Math.round(keptMs / 3_600_000)} h, but these topics keep records longer: ${named}. Lower their retention.ms or raise what the store keeps.`,
  );
}
