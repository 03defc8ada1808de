import { randomUUID } from 'node:crypto';
import { Failure } from '@conclave/contracts';
import type { EventLog, StateStore, StoreMark } from '@conclave/ports';

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
