import { setTimeout as delay } from 'node:timers/promises';
import { logPlace, newProcessId, openLog, type OpenedLog } from '@conclave/host';
import { openLogger, terminalLines, type Loaded } from '@conclave/platform';
import { leaseTtlMs, markAfterRecovery, type StoreMark } from '@conclave/ports';
import { strategyOf } from '@conclave/strategies';
import { rebuildStore, recoveredText } from '@conclave/replay';
import { exitCodes } from './ask.js';
import { typed } from './typed.js';

export interface RecoverCommand {
  readonly loaded: Loaded;
  /** Rebuilds even if the store fits the log, belongs to another log, or is in use by live processes. */
  readonly force: boolean;
  readonly out: { write(text: string): unknown };
  /** Receives progress and warnings of the stores. */
  readonly terminal: { write(text: string): unknown };
  /** Aborts when the user stops the command; the store stays red. */
  readonly signal: AbortSignal;
  /** Milliseconds to wait for the leases of dead processes; default: their whole length. */
  readonly leaseMs?: number;
}

/** Milliseconds between two reads of the leases, and between two progress lines. */
const pollMs = 500;
const progressMs = 2_000;

/**
 * Rebuilds the state store from the log if it is empty or older. Returns the exit code; `failed` if it refuses. Throws
 * DATA_FOLDER_IN_USE; errors of the stores pass through. If interrupted, the store stays red and the command can be run again.
 */
export async function recoverCommand(options: RecoverCommand): Promise<number> {
  const { loaded, out, terminal, signal } = options;
  const logger = openLogger({ level: loaded.environment.LOG_LEVEL, sinks: [terminalLines(terminal)], fields: {} });
  const opened = await openLog({ loaded, logger, processId: newProcessId('recover') });
  if (!opened) {
    out.write(`There is nothing to recover: nothing is recorded in ${logPlace(loaded)}.\n`);
    return exitCodes.answered;
  }
  try {
    const mark = await opened.log.identity.read();
    const answer = await unneeded(opened, mark, options);
    if (answer !== null || !mark) return answer ?? exitCodes.answered;
    return await rebuild(opened, mark, options);
  } catch (error) {
    if (!signal.aborted) throw error;
    terminal.write(typed('\nInterrupted: the state store stays red and nothing is consumed. Run `conclave recover` again.\n'));
    return exitCodes.cancelled;
  } finally {
    await opened.close();
  }
}

/** Returns null if the store must be rebuilt; otherwise writes why not and returns the exit code. */
async function unneeded({ state, where }: OpenedLog, mark: StoreMark | null, options: RecoverCommand): Promise<number | null> {
  const { out, terminal, force } = options;
  if (!mark) {
    out.write(`There is nothing to recover: no state store has been used with ${where}.\n`);
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
    out.write('The state store fits the log: nothing was changed. After a backup was restored, --force rebuilds it anyway.\n');
    return exitCodes.answered;
  }
  const live = force ? [] : await stillLive(state.recovery, options);
  if (live.length === 0) return null;
  terminal.write(
    `Processes use this state store: ${live.join(', ')}. Nothing was changed. Stop them first; --force does not wait for them.\n`,
  );
  return exitCodes.failed;
}

/** An older copy contains stale leases, which expire, unlike those of live processes. */
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
