import { randomUUID } from 'node:crypto';
import { ingestId, isTerminal, rootOf } from '@conclave/contracts';
import {
  destroyedKey,
  type Above,
  type ErasedRun,
  type PaidCall,
  type Recovery,
  type RestoredCall,
  type RestoredRun,
  type StoreTtl,
} from '@conclave/ports';
import { listedMs } from './acceptances.js';
import type { RedisConnection } from './connection.js';
import { erasing } from './erasing.js';
import { above } from './journal.js';
import type { Keys } from './keys.js';
import { readsForgotten } from './leases.js';
import { packed } from './packed.js';
import { noteRetry, relistRun } from './scripts/acceptance.js';
import { allHave, liveProcesses } from './scripts/leases.js';
import { markBucket, restoreCalls, restoreRun } from './scripts/recovery.js';
import { destroySealKey } from './scripts/seal-keys.js';
import { storeFormat } from './scripts/store.js';
import { timerMember, timerRecord } from './timers.js';
import { accountsOf, adding } from './usage-ledger.js';

/** Outputs of ended runs that are not published again: the records of steps are already on the log, and nothing is left to plan or do. */
const onLogOrOver: ReadonlySet<string> = new Set(['StepRecorded', 'GapDetected', 'TaskDispatched']);

/**
 * Runs every script without an identity check: this process has neither read nor started the identity, so it is bound to no store.
 */
export class RedisRecovery implements Recovery {
  /** Whether every process can read packed and forgotten bodies, as of the start of the rebuild. */
  private sparing = false;

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly ttl: StoreTtl & { readonly blobMs: number },
    private readonly now: () => Promise<number>,
  ) {}

  live(): Promise<readonly string[]> {
    return this.connection.runUnguarded(this.keys.common, liveProcesses, [this.keys.leases], []);
  }

  async begin(storeId: string): Promise<void> {
    await this.mark({ storeId, generation: 0 });
    const { connection, keys } = this;
    this.sparing = (await connection.runUnguarded(keys.common, allHave, [keys.leases, keys.workers(readsForgotten)], [])) === 1;
  }

  private async mark({ storeId, generation }: { readonly storeId: string; readonly generation: number }): Promise<void> {
    const { connection, keys } = this;
    await Promise.all(keys.buckets.map((at) => connection.runUnguarded(at, markBucket, [], [storeId, generation, storeFormat])));
  }

  async run<S>(restored: RestoredRun<S>, numbers: Above): Promise<'restored' | 'kept'> {
    const { keys, ttl } = this;
    const { runId, header, retryKey, endedAt } = restored;
    const own = keys.of(runId);
    const now = await this.now();
    const since = (from: number | null, kept: number): number => Math.max(1, kept - (from === null ? 0 : Math.max(0, now - from)));
    const brief = this.sparing && restored.terminal;
    const kept = (value: unknown): string => (brief ? packed(JSON.stringify(value)) : JSON.stringify(value));
    const change = {
      header: header ? JSON.stringify(header) : '',
      template: header?.data.template.id ?? '',
      question: header?.data.goal ?? '',
      accounts: header ? accountsOf(header.data.caller) : '',
      version: String(restored.version),
      state: kept(restored.state),
      status: restored.status,
      terminal: restored.terminal ? '1' : '0',
      ended: restored.entries.some(({ entry }) => isTerminal(entry)) ? '1' : '0',
      applied: restored.applied.map(({ eventId, outputs }) => [
        eventId,
        `${randomUUID()}${kept(brief ? outputs.filter(({ type }) => !onLogOrOver.has(type)) : outputs)}`,
      ]),
      entries: restored.entries.map(({ at, entry }) => `${at} ${JSON.stringify(entry)}`),
      timers: restored.timers.map((timer) => [timerMember(runId, timer.name), String(timer.dueAt), timerRecord(timer)]),
      disarmed: restored.disarmed.map((name) => timerMember(runId, name)),
      cancels: restored.cancels,
      streamBase: String(numbers.streamBase),
      attempt: String(numbers.attempt),
      commandSeq: String(numbers.commandSeq),
    };
    const { at } = own;
    const outcome = await this.connection.runUnguarded(
      at,
      restoreRun,
      [
        ...[own.run, own.applied, own.stream, own.streamTasks, own.journal, own.cancelled, own.commands],
        ...[at.open, at.unpublished, at.timers, at.timerData],
      ],
      [runId, JSON.stringify(change), since(endedAt, ttl.retentionMs), since(endedAt, ttl.streamMs)],
    );
    // A run without a header is in no list, because its tenant is unknown.
    if (header) {
      const list = keys.tenant(header.data.caller.tenant);
      await this.connection.runUnguarded(list.at, relistRun, [list.key], [runId, header.data.requestedAt, listedMs(ttl)]);
    }
    const retryMs = ttl.retryKeyMs - Math.max(0, now - (header?.data.requestedAt ?? now));
    if (retryKey !== null && retryMs > 0) {
      const retry = keys.retry(retryKey);
      await this.connection.runUnguarded(retry.at, noteRetry, [retry.key], [runId, retryMs]);
    }
    return outcome;
  }

  async calls(runId: string, calls: readonly RestoredCall[]): Promise<number> {
    if (calls.length === 0) return 0;
    const { at, journal, started, run } = this.keys.of(runId);
    const written = calls.map(({ step, attempt, outcome }) => [
      ...[step, attempt, JSON.stringify(outcome), above(step)],
      this.sparing && !step.startsWith(`${ingestId(runId)}/`) ? 1 : 0,
    ]);
    return this.connection.runUnguarded(at, restoreCalls, [journal, started, run], [JSON.stringify(written), this.ttl.retentionMs]);
  }

  async paid(calls: readonly PaidCall[]): Promise<void> {
    for (const call of calls) await this.connection.runUnguarded(...adding(this.keys, this.ttl, call));
  }

  /** Stores an empty body, which matches no hash: readers are told that it is corrupt. */
  async bodyLost({ sha256 }: { readonly sha256: string }): Promise<void> {
    const key = this.keys.blob(sha256);
    await this.connection.write('note a lost body', key, (redis) => redis.set(key, '', 'PX', this.ttl.blobMs, 'NX'));
  }

  async erased(erased: ErasedRun): Promise<void> {
    const { at, script, keys, parameters } = erasing(this.keys, this.ttl.retentionMs, erased);
    await this.connection.runUnguarded(at, script, keys, parameters);
    // An older copy of the store still has it.
    const { seal } = this.keys.of(rootOf(erased.runId));
    await this.connection.runUnguarded(at, destroySealKey, [seal], [destroyedKey, this.ttl.blobMs]);
  }

  end(mark: { readonly storeId: string; readonly generation: number }): Promise<void> {
    return this.mark(mark);
  }
}
