import type { CallBodies, RunRecord, RunRecordList } from '@conclave/contracts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, ApiError } from '../../api/client.js';

/** A step of the engine as recorded on the log. */
export type StepRecord = Extract<RunRecord, { kind: 'step' }>;
/** A call of a model or a tool as recorded on the log; its text is read on demand. */
export type CallRecord = Extract<RunRecord, { kind: 'call' }>;

/** Milliseconds between two reads of a run in progress: each read scans the log. */
const whileRunningMs = 5_000;

export interface Records {
  readonly steps: readonly StepRecord[];
  readonly calls: readonly CallRecord[];
  /** True when the log of this run cannot be read, or not yet. */
  readonly isAbsent: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
}

const pathOf = (runId: string): string => `/v1/runs/${encodeURIComponent(runId)}/records`;

/** The records of a run on the log. `ended` reads them once more at the end of the run. */
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

/** Prompt and reply of one call. The gateway records who reads them, so they are read only on request and never refreshed automatically. */
export const readBodies = (runId: string, { step, attempt }: CallRecord): Promise<CallBodies> =>
  api.get<CallBodies>(`${pathOf(runId)}/bodies?step=${encodeURIComponent(step)}&attempt=${attempt}`);
