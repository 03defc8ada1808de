import { randomUUID } from 'node:crypto';
import { isTerminal } from '@conclave/contracts';
import type { Above, PaidCall, Recovery, RestoredCall, RestoredRun, StoreTtl } from '@conclave/ports';
import type { Connection } from './connection.js';
import { above } from './journal.js';
import type { Keys } from './keys.js';
import { beginRecovery, endRecovery, liveProcesses, restoreCalls, restoreRun } from './scripts/recovery.js';
import { storeFormat } from './scripts/store.js';
import { addUsage } from './scripts/usage.js';
import { timerMember, timerRecord } from './timers.js';
import { accountsOf, adding } from './usage-ledger.js';

/** A run without a header is in no list: its tenant is not known. */
const noTenant = '';

/**
 * Runs every script on whatever store is there: a process that has neither read nor started the identity is not bound to one.
 */
export class RedisRecovery implements Recovery {
  constructor(
    private readonly connection: Connection,
    private readonly keys: Keys,
    private readonly ttl: StoreTtl & { readonly blobMs: number },
    private readonly now: () => Promise<number>,
  ) {}

  live(): Promise<readonly string[]> {
    return this.connection.runUnguarded(liveProcesses, [this.keys.leases], []);
  }

  async begin(storeId: string): Promise<void> {
    await this.connection.runUnguarded(beginRecovery, [], [storeId, storeFormat]);
  }

  async run<S>(restored: RestoredRun<S>, numbers: Above): Promise<'restored' | 'kept'> {
    const { keys, ttl } = this;
    const { runId, header, retryKey, endedAt } = restored;
    const own = keys.of(runId);
    const now = await this.now();
    const since = (from: number | null, kept: number): number => Math.max(1, kept - (from === null ? 0 : Math.max(0, now - from)));
    const change = {
      header: header ? JSON.stringify(header) : '',
      template: header?.data.template.id ?? '',
      question: header?.data.goal ?? '',
      accounts: header ? accountsOf(header.data.caller) : '',
      acceptedAt: String(header?.data.requestedAt ?? 0),
      version: String(restored.version),
      state: JSON.stringify(restored.state),
      status: restored.status,
      terminal: restored.terminal ? '1' : '0',
      ended: restored.entries.some(({ entry }) => isTerminal(entry)) ? '1' : '0',
      applied: restored.applied.map(({ eventId, outputs }) => [eventId, `${randomUUID()}${JSON.stringify(outputs)}`]),
      entries: restored.entries.map(({ at, entry }) => `${at} ${JSON.stringify(entry)}`),
      timers: restored.timers.map((timer) => [timerMember(runId, timer.name), String(timer.dueAt), timerRecord(timer)]),
      disarmed: restored.disarmed.map((name) => timerMember(runId, name)),
      cancels: restored.cancels,
      streamBase: String(numbers.streamBase),
      attempt: String(numbers.attempt),
      commandSeq: String(numbers.commandSeq),
    };
    return this.connection.runUnguarded(
      restoreRun,
      [
        ...[own.run, own.applied, own.stream, own.streamTasks, own.journal, own.cancelled, own.commands],
        ...[keys.open, keys.unpublished, keys.timers, keys.timerData, keys.tenant(header?.data.caller.tenant ?? noTenant)],
        ...(retryKey === null ? [] : [keys.retry(retryKey)]),
      ],
      [
        runId,
        JSON.stringify(change),
        ...[since(endedAt, ttl.retentionMs), since(endedAt, ttl.streamMs)],
        Math.max(0, ttl.retryKeyMs - Math.max(0, now - (header?.data.requestedAt ?? now))),
      ],
    );
  }

  async calls(runId: string, calls: readonly RestoredCall[]): Promise<number> {
    if (calls.length === 0) return 0;
    const { journal, started, run } = this.keys.of(runId);
    const written = calls.map(({ step, attempt, outcome }) => [step, attempt, JSON.stringify(outcome), above(step)]);
    return this.connection.runUnguarded(restoreCalls, [journal, started, run], [JSON.stringify(written), this.ttl.retentionMs]);
  }

  async paid(calls: readonly PaidCall[]): Promise<void> {
    for (const call of calls) await this.connection.runUnguarded(addUsage, ...adding(this.keys, this.ttl, call));
  }

  /** An empty body fits no hash: whoever asks for it is told that it is corrupt. */
  async bodyLost({ sha256 }: { readonly sha256: string }): Promise<void> {
    await this.connection.send('note a lost body', (redis) => redis.set(this.keys.blob(sha256), '', 'PX', this.ttl.blobMs, 'NX'));
  }

  async end({ storeId, generation }: { readonly storeId: string; readonly generation: number }): Promise<void> {
    await this.connection.runUnguarded(endRecovery, [], [storeId, generation, storeFormat]);
  }
}
