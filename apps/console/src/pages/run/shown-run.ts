import type { RunView, StreamEntry } from '@conclave/contracts';
import { useMemo } from 'react';
import type { FeedState } from '../../run/run-feed.js';
import { type LiveRun, RunFold } from '../../run/run-fold.js';
import { useRun } from '../../run/use-run.js';
import { recordedEntries } from './recorded-entries.js';
import { type Records, useRecords } from './records.js';

export interface ShownRun {
  readonly run: LiveRun;
  readonly record: RunView | undefined;
  readonly records: Records;
  /** The events, to any of which the run can be folded. */
  readonly entries: readonly StreamEntry[];
  /** Their origin: the stream, or the log once the stream has expired. */
  readonly origin: 'stream' | 'log';
  readonly state: FeedState;
  readonly error: unknown;
}

/** A run from its events while the stream keeps them, and from the log afterwards. */
export function useShownRun(runId: string): ShownRun {
  const { run, record, entries, state, error } = useRun(runId);
  const isOver = run.end !== null || record?.terminal === true;
  const records = useRecords(runId, isOver);
  const { steps, calls, isLoading } = records;
  const hasExpired = record?.terminal === true && state === 'ended' && (entries.length === 0 || entries[0]!.id > 1);
  const made = useMemo(
    () => (hasExpired && !isLoading ? recordedEntries(record, { steps, calls }) : []),
    [hasExpired, isLoading, record, steps, calls],
  );
  const folded = useMemo(() => (made.length > 0 ? RunFold.upTo(made) : null), [made]);
  return {
    run: folded ?? run,
    record,
    records,
    entries: folded ? made : entries,
    origin: folded ? 'log' : 'stream',
    state,
    error,
  };
}
