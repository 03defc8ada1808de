import { type CallRecorded, CommandIssued, commandId, makeEvent, rootOf, type RunErased } from '@conclave/contracts';
import { traceparentIn } from '@conclave/platform';
import {
  aboveLost,
  bodyOf,
  type ErasedRun,
  isErased,
  type EventLog,
  paidCallOf,
  type PaidCall,
  type Recovery,
  type RestoredRun,
  type StoredRecord,
  type StoreMark,
} from '@conclave/ports';
import { RunOnLog, recoveryActor } from './known-runs.js';
import { lostRequest } from './lost-request.js';
import { rebuildRun, type RebuildOptions } from './rebuild-run.js';

/** Maximum number of concurrent writes. */
const atOnce = 32;

/** Runs independent writes concurrently. The next `add`, or `settled`, throws the first failure. */
class Writes {
  private readonly running = new Set<Promise<void>>();
  private failure: { readonly error: unknown } | null = null;

  /** Resolves when the write may start, not when it is done. */
  async add(write: () => Promise<void>): Promise<void> {
    while (this.running.size >= atOnce) await Promise.race(this.running);
    if (this.failure) throw this.failure.error;
    const one: Promise<void> = write()
      .catch((error: unknown) => void (this.failure ??= { error }))
      .finally(() => this.running.delete(one));
    this.running.add(one);
  }

  async settled(): Promise<void> {
    await Promise.all(this.running);
    if (this.failure) throw this.failure.error;
  }
}

export interface RebuildStore extends RebuildOptions {
  readonly log: Pick<EventLog, 'read' | 'publish'>;
  /** Every topic with events, without prefix. */
  readonly topics: readonly string[];
  readonly recovery: Recovery;
  /** The store's identity mark as the log has it. */
  readonly mark: StoreMark;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** How long ended runs are kept, in milliseconds. */
  readonly retentionMs: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (so: { readonly records: number; readonly ended: number; readonly topic: string }) => void;
}

/** Result of a recovery: counts, and ids that need a person's attention. */
export interface Recovered {
  records: number;
  open: number;
  /** Open runs of which the store already had this version or a newer one. */
  kept: number;
  /** Open runs that no step had taken yet. */
  requested: number;
  ended: number;
  /** Runs that ended longer ago than ended runs are kept. */
  expired: number;
  calls: number;
  timers: number;
  /** Bodies above 64 KB that were in the lost store. */
  bodies: number;
  /** Undecodable records that name no run. */
  strangers: number;
  readonly aborted: { readonly runId: string; readonly fault: string }[];
  readonly gaps: { readonly runId: string; readonly versions: readonly number[] }[];
  /** Calls of open runs whose reply is not on the log: they are repeated if their task is redelivered. */
  readonly withoutReply: { readonly runId: string; readonly steps: readonly string[] }[];
}

/** Topics that define runs; audit first, because it contains most and lets ended runs be freed while it is read. */
const telling = ['audit', 'run.completed', 'plan.requested', 'run.commands'];
/** Records between two checks of the signal, which also report progress. */
const progressEvery = 1_000;

/**
 * Writes the log's content into a store between `begin` and `end`. Keeps open runs in memory until all topics are read; ended ones only
 * until their last step. Throws the reason of `signal`, and the failures of log and store: then run it again.
 */
export async function rebuildStore(options: RebuildStore): Promise<Recovered> {
  return new StoreRebuild(options).run();
}

class StoreRebuild {
  private readonly open = new Map<string, RunOnLog>();
  /** Ended runs that are already written. */
  private readonly over = new Set<string>();
  /** Tombstones of runs that were deleted, by their id. */
  private readonly erased = new Map<string, ErasedRun>();
  private readonly writes = new Writes();
  private readonly done: Recovered = {
    ...{ records: 0, open: 0, kept: 0, requested: 0, ended: 0, expired: 0, calls: 0, timers: 0, bodies: 0, strangers: 0 },
    ...{ aborted: [], gaps: [], withoutReply: [] },
  };

  constructor(private readonly options: RebuildStore) {}

  async run(): Promise<Recovered> {
    const { topics } = this.options;
    const others = topics.filter((topic) => !telling.includes(topic));
    for (const topic of [...telling.filter((name) => topics.includes(name)), ...others]) await this.read(topic);
    for (const run of this.open.values()) {
      if (this.erased.has(rootOf(run.runId))) continue;
      this.options.signal.throwIfAborted();
      await this.write(run);
    }
    await this.writes.settled();
    // Last, because the erasure follows the records of the run on the log: its tombstone replaces what was written for the run.
    for (const run of this.erased.values()) {
      const children = [...this.over].filter((runId) => runId !== run.runId && rootOf(runId) === run.runId);
      for (const runId of [run.runId, ...children]) await this.options.recovery.erased({ ...run, runId });
    }
    return this.done;
  }

  private async read(topic: string): Promise<void> {
    const { log, signal, onProgress } = this.options;
    for await (const record of log.read(topic)) {
      signal.throwIfAborted();
      this.done.records += 1;
      if (this.done.records % progressEvery === 0) onProgress?.({ records: this.done.records, ended: this.done.ended, topic });
      await this.take(record);
    }
  }

  private async take(record: StoredRecord): Promise<void> {
    const { event, headers, topic } = record;
    const body = event || isErased(record) ? null : bodyOf(record);
    if (body) {
      this.done.bodies += 1;
      await this.options.recovery.bodyLost(body);
    }
    if (!telling.includes(topic)) return;
    const runId = event?.runId ?? headers['ce_runid'];
    if (runId === undefined) return void (this.done.strangers += 1);
    if (event?.type === 'RunErased') {
      const { tenant, requestedAt, erasedAt } = (event as RunErased).data;
      this.erased.set(runId, { runId, tenant, requestedAt, erasedAt });
      this.open.delete(runId);
      return;
    }
    if (isErased(record) || this.erased.has(rootOf(runId))) return;
    if (this.over.has(runId)) return this.late(runId, record);
    // A call that a gateway made directly for a client belongs to no run: it names the account to charge.
    const direct = event?.type === 'CallRecorded' && event.source === 'gateway' ? [paidCallOf(event as CallRecorded)] : [];
    if (direct.length > 0) return this.writes.add(() => this.options.recovery.paid(this.stillCounted(direct)));
    const run = this.open.get(runId) ?? new RunOnLog(runId);
    if (!run.take(record)) return;
    this.open.set(runId, run);
    if (run.isWhole && (await this.write(run, { onlyEnded: true }))) this.open.delete(runId);
  }

  /** Drops older attempts: they may be in the sums of an older copy of the store, which no longer recognises them individually. */
  private stillCounted(calls: readonly PaidCall[]): readonly PaidCall[] {
    return calls.filter(({ at }) => at + this.options.retentionMs > this.options.now);
  }

  private async writeCalls(runId: string, calls: Parameters<Recovery['calls']>[1], paid: readonly PaidCall[]): Promise<void> {
    const written = await this.options.recovery.calls(runId, calls);
    this.done.calls += written;
    await this.options.recovery.paid(paid);
  }

  /** A late call of an ended run is still paid once. */
  private async late(runId: string, record: StoredRecord): Promise<void> {
    const run = new RunOnLog(runId);
    run.take(record);
    const paid = this.stillCounted(run.takePaid());
    if (run.calls.size + paid.length === 0) return;
    await this.writes.add(() => this.writeCalls(runId, run.takeCalls(), paid));
  }

  /** Returns whether the run is complete and needs no more records. */
  private async write(known: RunOnLog, { onlyEnded = false } = {}): Promise<boolean> {
    const { now, retentionMs, mark, recovery, log } = this.options;
    const { runId } = known;
    const { run: rebuilt, gaps, fault } = rebuildRun(known.records(), this.options);
    if (onlyEnded && !rebuilt.terminal) return false;
    if (rebuilt.terminal) this.over.add(runId);
    if (rebuilt.endedAt !== null && rebuilt.endedAt + retentionMs <= now) {
      this.done.expired += 1;
      return true;
    }
    // A run with only calls, or with commands that have no run, was never accepted or has long expired.
    if (rebuilt.version === 0 && !rebuilt.header && !known.requestIsLost) return true;
    const ends = fault ?? (rebuilt.terminal || rebuilt.header ? null : 'its request can no longer be read');
    const run = rebuilt.terminal || rebuilt.header ? rebuilt : { ...rebuilt, header: lostRequest(runId, now) };
    const above = aboveLost(mark, known.commandSeq);
    const withoutReply = [...known.withoutReply].filter((step) => !known.calls.has(step));
    await this.writes.add(async () => {
      const said = await recovery.run(run, above);
      await this.writeCalls(runId, known.takeCalls(), this.stillCounted(known.takePaid()));
      if (run.terminal) return void (this.done.ended += 1);
      this.done.open += 1;
      this.done.timers += run.timers.length;
      if (run.version === 0) this.done.requested += 1;
      else if (said === 'kept') this.done.kept += 1;
      if (gaps.length > 0) this.done.gaps.push({ runId, versions: gaps });
      if (withoutReply.length > 0) this.done.withoutReply.push({ runId, steps: withoutReply });
      // A store with a newer state continues without the log.
      if (ends === null || (said === 'kept' && run.version > 0)) return;
      this.done.aborted.push({ runId, fault: ends });
      if (!known.aborted) await log.publish([abortOf(run, above.commandSeq, now, ends)]);
    });
    return true;
  }
}

/** Ends a run that cannot continue, through the engine like any other end. Its command number is never used again. */
function abortOf({ runId, header }: Pick<RestoredRun<unknown>, 'runId' | 'header'>, seq: number, now: number, fault: string) {
  const id = commandId(runId, seq);
  return makeEvent(
    CommandIssued,
    { id, runId, source: 'transport', time: now, traceparent: traceparentIn(header, { id, runId }) },
    {
      seq,
      actor: recoveryActor,
      issuedAt: now,
      command: { name: 'abort', reason: `the state store was lost and this run could not be rebuilt: ${fault}` },
    },
  );
}
