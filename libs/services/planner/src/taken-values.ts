import { taskId } from '@conclave/contracts';
import type { Calls } from '@conclave/calls';
import type { StateStore } from '@conclave/ports';
import { wholeResultKey, type TakenValue } from '@conclave/strategies';
import * as z from 'zod';
import { journalledJson, type Journalled, type JournalledLook } from './journalled-look.js';

/** Call number of this look-up: above those of a plan's model calls. */
const takenIndex = 1_003;

type Look = Omit<JournalledLook, 'index' | 'name' | 'purpose' | 'request'>;

/**
 * The values that a plan takes from earlier results, by the words that stand for them; those that no result has are left out. A result of
 * which the run knows only an excerpt is looked up as a whole, and the journal keeps the values, so that a repeat finds the same.
 */
export async function valuesTaken(
  { caches, maker }: { readonly caches: Pick<StateStore['caches'], 'read'>; readonly maker: Pick<Calls, 'tool'> },
  look: Look,
  tenant: string,
  taken: readonly TakenValue[],
): Promise<Journalled<ReadonlyMap<string, unknown>>> {
  const known = taken.filter(({ isWhole }) => isWhole).map(({ said, known, of }) => [said, of(known)] as const);
  const cut = taken.filter(({ isWhole }) => !isWhole);
  const found = (more: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> =>
    new Map([...known.filter(([, value]) => value !== undefined), ...Object.entries(more)]);
  if (cut.length === 0) return { kind: 'seen', value: found({}), attempt: 1, records: [] };
  const request = { values: cut.map(({ said, task }) => ({ said, ...task })) };
  const asked = { ...look, index: takenIndex, name: 'results.values', purpose: 'plan', request };
  const looked = await journalledJson(maker, asked, z.record(z.string(), z.unknown()), async () => {
    const values = await Promise.all(
      cut.map(async ({ said, task, of }) => {
        const entry = await caches.read(tenant, wholeResultKey(taskId(look.runId, task.epoch, task.id)));
        return [said, typeof entry?.value === 'string' ? of(entry.value) : undefined] as const;
      }),
    );
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  });
  return looked.kind === 'seen' ? { ...looked, value: found(looked.value ?? {}) } : looked;
}
