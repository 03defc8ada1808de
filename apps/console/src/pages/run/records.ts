import type { CallBodies, RunRecordList } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, ApiError } from '../../api/client.js';

type RunRecord = RunRecordList['data'][number];
/** A step of the engine as the log keeps it. */
export type StepRecord = Extract<RunRecord, { kind: 'step' }>;
/** A call of a model or a tool as the log keeps it; what was said is read on demand. */
export type CallRecord = Extract<RunRecord, { kind: 'call' }>;

/** A running run is read again this often: the log has to be looked through each time. */
const whileRunningMs = 5_000;

export interface Records {
  readonly steps: readonly StepRecord[];
  readonly calls: readonly CallRecord[];
  /** True where the log of this run cannot be read, or not yet. */
  readonly isAbsent: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
}

const pathOf = (runId: string): string => `/v1/runs/${encodeURIComponent(runId)}/records`;

/** What the log holds of a run. `ended` reads it once more at the end of the run. */
export function useRecords(runId: string, ended: boolean): Records {
  const { data, error, isPending } = useQuery({
    queryKey: ['run', runId, 'records', ended],
    queryFn: ({ signal }) => api.get<RunRecordList>(pathOf(runId), signal),
    placeholderData: (before) => before,
    staleTime: ended ? 60_000 : 0,
    refetchInterval: ({ state }) => (ended || state.error ? false : whileRunningMs),
  });
  const isAbsent = error instanceof ApiError && error.status === 404;
  return useMemo(
    () => ({
      steps: data?.data.filter((record) => record.kind === 'step') ?? [],
      calls: data?.data.filter((record) => record.kind === 'call') ?? [],
      isAbsent,
      isLoading: isPending,
      error: isAbsent ? null : error,
    }),
    [data, isAbsent, isPending, error],
  );
}

/** Prompt and reply of one call. The gateway keeps a record of who read them, so they are read when asked for and not again by themselves. */
export const readBodies = (runId: string, { step, attempt }: CallRecord): Promise<CallBodies> =>
  api.get<CallBodies>(`${pathOf(runId)}/bodies?step=${encodeURIComponent(step)}&attempt=${attempt}`);
