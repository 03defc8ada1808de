import type { RunView, StreamEntry } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { api } from '../api/client.js';
import { queries } from '../api/queries.js';
import { type FeedView, RunFeed } from './run-feed.js';

/** A run according to its events, and its record, which contains what events do not: usage, limits, evidence. */
export interface FollowedRun extends FeedView {
  readonly record: RunView | undefined;
  /** All events so far; the same list grows. */
  readonly entries: readonly StreamEntry[];
}

/** One feed for each run that this page shows. */
const feeds = new Map<string, { readonly feed: RunFeed; users: number }>();

function borrowed(runId: string): RunFeed {
  const known = feeds.get(runId);
  if (known) return known.feed;
  const feed = new RunFeed(runId);
  feeds.set(runId, { feed, users: 0 });
  return feed;
}

function giveBack(runId: string): void {
  const known = feeds.get(runId);
  if (!known) return;
  known.users -= 1;
  if (known.users > 0) return;
  known.feed.close();
  feeds.delete(runId);
}

/** Milliseconds between two reads of the record while the run is in progress. */
const recordEveryMs = 1_000;

export const runKey = (runId: string): readonly string[] => ['run', runId];

/** Follows a run from its first event to its last. */
export function useRun(runId: string): FollowedRun {
  const [feed, setFeed] = useState(() => borrowed(runId));
  useEffect(() => {
    const mine = borrowed(runId);
    feeds.get(runId)!.users += 1;
    setFeed(mine);
    return () => giveBack(runId);
  }, [runId]);
  const view = useSyncExternalStore(feed.subscribe, feed.current);
  const over = view.state === 'ended';
  const record = useQuery({
    queryKey: runKey(runId),
    queryFn: ({ signal }) => api.get<RunView>(`/v1/runs/${encodeURIComponent(runId)}`, signal),
    enabled: view.state !== 'refused',
    refetchInterval: ({ state: { data } }) => (data?.terminal ? false : recordEveryMs),
    refetchIntervalInBackground: false,
  });
  useEffect(() => {
    if (over) void queries.invalidateQueries({ queryKey: runKey(runId) });
  }, [over, runId]);
  return { ...view, record: record.data, entries: feed.entries };
}
