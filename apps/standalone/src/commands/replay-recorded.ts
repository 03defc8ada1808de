import type { OpenedLog } from '@conclave/host';
import { driveRun, readRuns, shortHash, todaysCode, type ReplayedRun, type TodaysCode } from '@conclave/replay';

export interface ReplayedRuns {
  /** In the order they began. */
  readonly runs: readonly ReplayedRun[];
  /** Audit records that cannot be decoded and name no run. */
  readonly strangers: number;
  /** Of all runs together: equal for equal recordings and equal decisions. */
  readonly hash: string;
}

/** Replays one run of the log, or all that were recorded for null. Calls no model, tool or search, and writes nothing. */
export async function replayRecorded(
  opened: Pick<OpenedLog, 'log' | 'topics'>,
  runId: string | null,
  code: TodaysCode = todaysCode,
): Promise<ReplayedRuns> {
  const runs: ReplayedRun[] = [];
  const { strangers } = await readRuns(opened, runId, async (recording) => void runs.push(await driveRun(recording, code)));
  runs.sort((a, b) => a.from - b.from || (a.runId < b.runId ? -1 : 1));
  return { runs, strangers, hash: shortHash(runs.map(({ runId: id, hash }) => [id, hash])) };
}
