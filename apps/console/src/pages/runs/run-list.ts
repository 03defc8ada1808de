import type { RunList } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { api } from '../../api/client.js';

export type RunListItem = RunList['data'][number];

/** The reader's filters. A text is empty, and a time null, when any value matches. */
export interface RunFilter {
  readonly template: string;
  /** An outcome, or `open`. */
  readonly outcome: string;
  readonly text: string;
  readonly from: number | null;
  readonly until: number | null;
}

const pageSize = 100;
/** Pages that are read before the reader is asked. */
const pagesAtOnce = 10;
const headEveryMs = { open: 2_000, quiet: 10_000 };

export function matches(run: RunListItem, { template, outcome, text, from, until }: RunFilter): boolean {
  return (
    (template === '' || run.template === template) &&
    (outcome === '' || (outcome === 'open' ? !run.terminal : run.status === outcome)) &&
    (text === '' || run.question.toLowerCase().includes(text.toLowerCase()) || run.id === text.trim()) &&
    (from === null || run.acceptedAt >= from) &&
    (until === null || run.acceptedAt <= until)
  );
}

const readPage = (before: number | null, signal?: AbortSignal): Promise<RunList> =>
  api.get<RunList>(`/v1/runs?limit=${pageSize}${before === null ? '' : `&before=${before}`}`, signal);

/**
 * Matching runs, newest first. The API lists runs without filters, so the console looks through its pages until it has enough results, or has read
 * as many pages as it may without asking.
 */
export function useRunList(filter: RunFilter, wanted: number) {
  const [known, setKnown] = useState<ReadonlyMap<string, RunListItem>>(new Map());
  const [next, setNext] = useState<number | null | undefined>(undefined);
  const [pagesLeft, setPagesLeft] = useState(pagesAtOnce);
  const [failure, setFailure] = useState<unknown>(null);
  const head = useQuery({
    queryKey: ['runs', 'newest'],
    queryFn: ({ signal }) => readPage(null, signal),
    refetchInterval: ({ state: { data } }) => (data?.data.some(({ terminal }) => !terminal) ? headEveryMs.open : headEveryMs.quiet),
  });
  useEffect(() => {
    if (!head.data) return;
    const { data, nextBefore } = head.data;
    setKnown((before) => new Map([...before, ...data.map((run) => [run.id, run] as const)]));
    setNext((before) => (before === undefined ? nextBefore : before));
  }, [head.data]);

  const all = useMemo(() => [...known.values()].sort((one, other) => other.acceptedAt - one.acceptedAt), [known]);
  const found = useMemo(() => all.filter((run) => matches(run, filter)), [all, filter]);
  const oldest = all.at(-1)?.acceptedAt ?? null;
  const isExhausted = next === null || (filter.from !== null && oldest !== null && oldest < filter.from);
  const isShort = next !== undefined && !isExhausted && found.length < wanted;
  const isLooking = isShort && pagesLeft > 0 && failure === null;
  useEffect(() => {
    if (!isLooking || next === undefined || next === null) return;
    const reading = new AbortController();
    readPage(next, reading.signal).then(
      (page) => {
        setKnown((before) => new Map([...page.data.map((run) => [run.id, run] as const), ...before]));
        setNext(page.nextBefore);
        setPagesLeft((left) => left - 1);
      },
      (error: unknown) => {
        if (!reading.signal.aborted) setFailure(error);
      },
    );
    return () => reading.abort();
  }, [isLooking, next]);

  return {
    runs: found.slice(0, wanted),
    found: found.length,
    looked: all.length,
    /** Time of the oldest run that was examined. */
    oldest,
    templates: [...new Set(all.map(({ template }) => template))].sort(),
    isRead: next !== undefined,
    isLooking,
    /** True if older runs were not examined. */
    mayGoOn: isShort && !isLooking,
    hasMore: found.length > wanted || !isExhausted,
    error: failure ?? head.error,
    goOn: () => {
      setFailure(null);
      setPagesLeft(pagesAtOnce);
      void head.refetch();
    },
  };
}
