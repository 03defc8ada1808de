import { Failure, parentTaskOf } from '@conclave/contracts';
import { logPlace, newProcessId, openLog, type OpenedLog } from '@conclave/host';
import { openLogger, terminalLines, type Loaded } from '@conclave/platform';
import {
  replayedText,
  sameAsRecorded,
  driveRun,
  readRuns,
  shortHash,
  todaysCode,
  type ReplayedRun,
  type TodaysCode,
} from '@conclave/replay';
import { exitCodes } from './ask.js';
import { timelineOf } from './replay-timeline.js';
import { factHead, factLines, factsOnLog } from './run-facts.js';

export interface ReplayCommand {
  readonly loaded: Loaded;
  /** Null for every recorded run. */
  readonly runId: string | null;
  /** Runs everything recorded through today's code; otherwise the events of the run are shown. */
  readonly recorded: boolean;
  /** Shows the facts of the run instead of its events. Default false. */
  readonly facts?: boolean;
  readonly out: { write(text: string): unknown };
  /** Receives warnings of the stores. */
  readonly terminal: { write(text: string): unknown };
}

/**
 * Reads the log and shows a run, or replays it with today's code. Returns the exit code: `failed` when a decision differs, or a
 * recording is incomplete or missing. Throws RUN_NOT_FOUND, DATA_FOLDER_IN_USE; errors of the stores pass through.
 */
export async function replayCommand({ loaded, runId, recorded, facts = false, out, terminal }: ReplayCommand): Promise<number> {
  const logger = openLogger({ level: loaded.environment.LOG_LEVEL, sinks: [terminalLines(terminal)], fields: {} });
  const opened = await openLog({ loaded, logger, processId: newProcessId('replay') });
  if (!opened) throw new Failure('RUN_NOT_FOUND', `Nothing is recorded in ${logPlace(loaded)}.`);
  try {
    return recorded ? await compare(opened, runId, out) : await show(opened, runId!, facts, out);
  } finally {
    await opened.close();
  }
}

async function show({ log, topics, where }: OpenedLog, runId: string, facts: boolean, out: ReplayCommand['out']): Promise<number> {
  const told = facts ? await factsOnLog(log, runId) : null;
  const lines = told ? factLines(told) : await timelineOf(log, topics, runId);
  if (lines.length === 0) throw new Failure('RUN_NOT_FOUND', `Looked in ${where}.`);
  const place = `${runId} in ${where}`;
  out.write(`${told ? factHead(place, told) : `${place}: ${lines.length} records`}\n`);
  for (const line of lines) out.write(`${line}\n`);
  return exitCodes.answered;
}

async function compare(opened: OpenedLog, runId: string | null, out: ReplayCommand['out']): Promise<number> {
  const { where } = opened;
  const { runs, strangers, hash } = await replayRecorded(opened, runId);
  if (runs.length === 0 && runId !== null) throw new Failure('RUN_NOT_FOUND', `The run is not recorded in ${where}.`);
  for (const run of runs) out.write(replayedText(run));
  const failed = runs.filter((run) => !sameAsRecorded(run)).length;
  if (runId === null) {
    if (strangers > 0) out.write(`${strangers} audit records cannot be decoded and name no run.\n`);
    const verdict = runs.length === 0 ? 'nothing was replayed' : failed === 0 ? 'all the same' : `${failed} not the same`;
    out.write(`${runs.length} recorded ${runs.length === 1 ? 'run' : 'runs'} in ${where}: ${verdict} · hash ${hash}\n`);
  }
  return runs.length > 0 && failed === 0 ? exitCodes.answered : exitCodes.failed;
}

interface ReplayedRuns {
  /** In the order in which they began, each followed by its child runs. */
  readonly runs: readonly ReplayedRun[];
  /** Number of undecodable audit records that name no run. */
  readonly strangers: number;
  /** Hash over all runs: equal for equal recordings and decisions. */
  readonly hash: string;
}

/** Replays one run of the log and its child runs, or all recorded ones for null. Calls no model, tool or search, and writes nothing. */
async function replayRecorded(
  opened: Pick<OpenedLog, 'log' | 'topics'>,
  runId: string | null,
  code: TodaysCode = todaysCode,
): Promise<ReplayedRuns> {
  const runs: ReplayedRun[] = [];
  const { strangers } = await readRuns(opened, runId, async (recording) => void runs.push(await driveRun(recording, code)));
  inFamilies(runs);
  return { runs, strangers, hash: shortHash(runs.map(({ runId: id, hash }) => [id, hash])) };
}

/** Sorts runs by when they began, child runs after the run that started them. */
function inFamilies(runs: ReplayedRun[]): void {
  const began = new Map(runs.map(({ runId, from }) => [runId, from]));
  const lineOf = (runId: string): readonly string[] => {
    const parent = parentTaskOf(runId);
    return parent ? [...lineOf(parent.runId), runId] : [runId];
  };
  runs.sort((a, b) => {
    const [left, right] = [lineOf(a.runId), lineOf(b.runId)];
    const fork = left.findIndex((id, index) => id !== right[index]);
    // One is an ancestor of the other.
    if (fork < 0 || fork === right.length) return left.length - right.length;
    const [one, other] = [left[fork]!, right[fork]!];
    return (began.get(one) ?? a.from) - (began.get(other) ?? b.from) || (one < other ? -1 : 1);
  });
}
