import type { StreamEntry, WorkerEntry } from '@conclave/contracts';

/**
 * One ordered, resumable stream per run. The engine appends facts inside `Runs.commit`, workers append here.
 * Ids are dense integers from 1. Kept whole until the terminal entry, expires an hour after it.
 * Shares its store with the state (same file, same Redis).
 */
export interface RunStream {
  /**
   * Appends in order, idempotent by (task, attempt, offset) for chunks and (task, attempt, n) for progress: overlaps are cut, repeats do
   * nothing. The first append of a higher attempt writes `superseded` first if the earlier attempt had shown text. Returns `refused`
   * (nothing appended) for an attempt lower than the newest, or after the terminal entry. Publishes the hint `stream` with the run id.
   */
  append(runId: string, entries: readonly WorkerEntry[]): Promise<'appended' | 'refused'>;
  /**
   * Entries with id > after, at most `limit`. `last` is the highest existing id (0 for an unknown run), `ended` whether the terminal entry
   * exists.
   */
  read(runId: string, after: number, limit: number): Promise<StreamPage>;
}
export interface StreamPage {
  readonly entries: readonly StreamEntry[];
  readonly first: number;
  readonly last: number;
  readonly ended: boolean;
}
