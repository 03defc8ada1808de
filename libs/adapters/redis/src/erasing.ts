import { randomUUID } from 'node:crypto';
import type { ErasedRun } from '@conclave/ports';
import type { Keys } from './keys.js';
import { eraseRun } from './scripts/erasure.js';

/** The command that removes a run; with a time it is removed whether it has ended or not. */
export function erasing(
  keys: Keys,
  retentionMs: number,
  { runId, erasedAt, ...run }: Omit<ErasedRun, 'erasedAt'> & { readonly erasedAt?: number },
) {
  const own = keys.of(runId);
  const { at } = own;
  return {
    at,
    script: eraseRun,
    keys: [
      ...[own.run, own.applied, at.open, at.unpublished],
      ...[own.stream, own.streamTasks, own.journal, own.started, own.commands, own.attached],
    ],
    parameters: [runId, JSON.stringify(run), erasedAt ?? '', erasedAt === undefined ? 0 : 1, `${randomUUID()}[]`, retentionMs],
  };
}
