import { setTimeout as delay } from 'node:timers/promises';
import { logPlace, newProcessId, openLog, type OpenedLog } from '@conclave/host';
import { openLogger, terminalLines, type Loaded } from '@conclave/platform';
import { leaseTtlMs, markAfterRecovery, type StoreMark } from '@conclave/ports';
import { strategyOf } from '@conclave/strategies';
import { rebuildStore, recoveredText } from '@conclave/replay';
import { exitCodes } from './ask.js';

export interface RecoverCommand {
  readonly loaded: Loaded;
  /** Also where the store fits the log, belongs to another log, or processes live on it. */
  readonly force: boolean;
  readonly out: { write(text: string): unknown };
  /** Progress, and warnings of the stores. */
  readonly terminal: { write(text: string): unknown };
  /** Aborted when the user wants no more of it: the store stays red. */
  readonly signal: AbortSignal;
  /** Milliseconds the leases of dead processes are waited for; their whole length unless given. */
  readonly leaseMs?: number;
}

/** Between two looks at the leases, and between two lines of progress. */
const pollMs = 500;
const progressMs = 2_000;

/**
 * Rebuilds the state store from the log where it is empty or older. Gives the exit code: `failed` where it refuses. Throws Failure
 * DATA_FOLDER_IN_USE and what the stores say; whatever ends it before its end leaves the store red, and it can be run again.
 */
export async function recoverCommand(options: RecoverCommand): Promise<number> {
  const { loaded, out, terminal, signal } = options;
  const logger = openLogger({ level: loaded.environment.LOG_LEVEL, sinks: [terminalLines(terminal)], fields: {} });
  const opened = await openLog({ loaded, logger, processId: newProcessId('recover') });
  if (!opened) {
    out.write(`There is nothing to recover: nothing was ever recorded in ${logPlace(loaded)}.\n`);
    return exitCodes.answered;
  }
  try {
    const mark = await opened.log.identity.read();
    const answer = await unneeded(opened, mark, options);
    if (answer !== null || !mark) return answer ?? exitCodes.answered;
    return await rebuild(opened, mark, options);
  } catch (error) {
    if (!signal.aborted) throw error;
    terminal.write('\nInterrupted: the state store stays red and nothing is consumed. Run `conclave recover` again.\n');
    return exitCodes.cancelled;
  } finally {
    await opened.close();
  }
}

/** The exit code where nothing is to be done or may be done, with the reason written; null where the store is to be rebuilt. */
async function unneeded({ state, where }: OpenedLog, mark: StoreMark | null, options: RecoverCommand): Promise<number | null> {
  const { out, terminal, force } = options;
  if (!mark) {
    out.write(`There is nothing to recover: no state store was ever used with ${where}.\n`);
    return exitCodes.answered;
  }
  const own = await state.identity.read();
  if (!force && own && own.storeId !== mark.storeId) {
    terminal.write(
      `This state store (${own.storeId}) belongs to another log; ${where} belongs to ${mark.storeId}. Nothing was changed. Check the addresses; --force takes the store for this log.\n`,
    );
    return exitCodes.failed;
  }
  if (!force && own && own.generation >= mark.generation) {
    out.write('The state store fits the log: nothing was changed. After a backup was put back, --force rebuilds it all the same.\n');
    return exitCodes.answered;
  }
  const live = force ? [] : await stillLive(state.recovery, options);
  if (live.length === 0) return null;
  terminal.write(
    `Processes work on this state store: ${live.join(', ')}. Nothing was changed. Stop them first; --force does not wait for them.\n`,
  );
  return exitCodes.failed;
}

/** An older copy holds leases of its time: they run out, those of living processes do not. */
async function stillLive(
  recovery: OpenedLog['state']['recovery'],
  { leaseMs = leaseTtlMs, signal }: RecoverCommand,
): Promise<readonly string[]> {
  const until = performance.now() + leaseMs + pollMs;
  for (;;) {
    const live = await recovery.live();
    if (live.length === 0 || performance.now() >= until) return live;
    await delay(pollMs, undefined, { signal });
  }
}

async function rebuild({ log, state, topics, where, retentionMs }: OpenedLog, mark: StoreMark, options: RecoverCommand): Promise<number> {
  const { out, terminal, signal } = options;
  const { recovery } = state;
  terminal.write(`Rebuilding the state store ${mark.storeId} from ${where}.\n`);
  const now = await state.now();
  await recovery.begin(mark.storeId);
  let shownAt = 0;
  const recovered = await rebuildStore({
    ...{ log, topics, recovery, mark, now, retentionMs, signal, strategyOf },
    onProgress: ({ records, ended, topic }) => {
      if (performance.now() - shownAt < progressMs) return;
      shownAt = performance.now();
      terminal.write(`  ${records} records read, now ${topic}; ${ended} ended runs written\n`);
    },
  });
  signal.throwIfAborted();
  const after = markAfterRecovery(mark);
  await recovery.end(after);
  await log.identity.write(after);
  out.write(recoveredText(recovered));
  return exitCodes.answered;
}
