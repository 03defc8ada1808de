import { isTerminal } from '@conclave/contracts';
import {
  acceptedStatus,
  type Above,
  type ErasedRun,
  type MemoryLeases,
  type PaidCall,
  type Recovery,
  type RestoredCall,
  type RestoredRun,
  type StoreMark,
  type StoreTtl,
} from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import type { ErasedRuns } from '../event-log/erased-runs.js';
import { eraseRun } from './erase-run.js';
import { writeMark } from './identity.js';
import type { SqliteTimers } from './timers.js';
import { addPaid } from './usage-ledger.js';

export interface RecoveryParts {
  readonly database: Store;
  readonly erased: ErasedRuns;
  readonly leases: MemoryLeases;
  readonly timers: SqliteTimers;
  /** Drops a run from memory, so that it is read again. */
  readonly forget: (runId: string) => void;
  readonly now: () => number;
  readonly ttl: StoreTtl;
}

/** Step name under which the journal stores the lowest attempt number of a rebuilt run. No real step is called that. */
export const baseStep = '';

/** Writes runs of the log's tables into the tables of the state; each call is one transaction. */
export class SqliteRecovery implements Recovery {
  constructor(private readonly parts: RecoveryParts) {}

  async live(): Promise<readonly string[]> {
    return this.parts.leases.living();
  }

  begin(storeId: string): Promise<void> {
    return this.parts.database.write(({ sql }) => writeMark(sql, 'state', { storeId, generation: 0 }));
  }

  run<S>(restored: RestoredRun<S>, above: Above): Promise<'restored' | 'kept'> {
    const { runId } = restored;
    return this.parts.database.write((tick) => {
      const { sql } = tick;
      if (this.parts.erased.has(runId)) return 'kept';
      tick.afterCommit(() => this.parts.forget(runId));
      this.addHeader(tick, restored);
      const held = sql.get<{ version: number }>('SELECT version FROM run WHERE run_id = ?', runId);
      const replaces = restored.version > (held?.version ?? 0);
      if (replaces) this.replace(tick, restored, above);
      const over = sql.get('SELECT 1 AS over FROM run WHERE run_id = ? AND terminal = 1', runId) !== undefined;
      if (!over) raise(tick, runId, above);
      for (const id of restored.cancels) sql.run('INSERT INTO cancel (id, at) VALUES (?, ?) ON CONFLICT DO NOTHING', id, this.parts.now());
      return replaces ? 'restored' : 'kept';
    });
  }

  calls(runId: string, calls: readonly RestoredCall[]): Promise<number> {
    return this.parts.database.write(({ sql, afterCommit }) => {
      if (this.parts.erased.has(runId)) return 0;
      afterCommit(() => this.parts.forget(runId));
      let written = 0;
      for (const { step, attempt, outcome } of calls)
        written += sql.run(
          `INSERT INTO journal (run_id, step, attempt, owner, opening, nonce, repeated, outcome, at) VALUES (?, ?, ?, NULL, 0, '', 0, ?, ?)
           ON CONFLICT DO UPDATE SET attempt = max(attempt, excluded.attempt), outcome = excluded.outcome WHERE outcome IS NULL`,
          runId,
          step,
          attempt,
          JSON.stringify(outcome),
          this.parts.now(),
        );
      return written;
    });
  }

  paid(calls: readonly PaidCall[]): Promise<void> {
    return this.parts.database.write(({ sql }) => {
      for (const call of calls) addPaid(sql, call);
    });
  }

  /** Stores an empty body, which matches no hash: readers are told that it is corrupt. */
  async bodyLost({ sha256 }: { readonly sha256: string }): Promise<void> {
    await this.parts.database.write(({ sql }) =>
      sql.run('INSERT INTO blob (sha256, body, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', sha256, Buffer.alloc(0), this.parts.now()),
    );
  }

  erased(run: ErasedRun): Promise<void> {
    const { database, erased, forget } = this.parts;
    return database.write((tick) => {
      eraseRun(tick, erased, run);
      tick.afterCommit(() => forget(run.runId));
    });
  }

  end(mark: StoreMark): Promise<void> {
    return this.parts.database.write(({ sql }) => writeMark(sql, 'state', mark));
  }

  /** Adds row, header and retry mapping where missing. Acceptance times are unique, so that a list can be paged by them. */
  private addHeader<S>({ sql }: Tick, { runId, header, retryKey, status }: RestoredRun<S>): void {
    const taken = (at: number): boolean =>
      sql.get('SELECT 1 AS found FROM run WHERE accepted_at = ? AND run_id <> ?', at, runId) !== undefined;
    let acceptedAt = header?.data.requestedAt ?? this.parts.now();
    while (taken(acceptedAt)) acceptedAt += 1;
    sql.run(
      `INSERT INTO run (run_id, tenant, actor, accepted_at, header, status) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET tenant = excluded.tenant, actor = excluded.actor, accepted_at = excluded.accepted_at, header = excluded.header
         WHERE header IS NULL`,
      runId,
      header?.data.caller.tenant ?? null,
      header?.data.caller.actor ?? null,
      acceptedAt,
      header ? JSON.stringify(header) : null,
      status || acceptedStatus,
    );
    if (header && retryKey !== null)
      sql.run(
        'INSERT INTO retry (retry_key, run_id, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
        retryKey,
        runId,
        header.data.requestedAt,
      );
  }

  private replace<S>(tick: Tick, restored: RestoredRun<S>, { streamBase }: Above): void {
    const { sql } = tick;
    const { runId, endedAt } = restored;
    sql.run(
      'UPDATE run SET version = ?, state_version = ?, state = ?, packed = NULL, status = ?, terminal = ?, ended_at = ? WHERE run_id = ?',
      restored.version,
      restored.version,
      JSON.stringify(restored.state),
      restored.status,
      restored.terminal ? 1 : 0,
      endedAt,
      runId,
    );
    sql.run('DELETE FROM applied WHERE run_id = ?', runId);
    for (const { eventId, outputs } of restored.applied)
      sql.run('INSERT INTO applied (run_id, event_id, outputs) VALUES (?, ?, ?)', runId, eventId, JSON.stringify(outputs));
    this.parts.timers.change(tick, runId, restored.disarmed, restored.timers);
    for (const table of ['stream', 'stream_entry']) sql.run(`DELETE FROM ${table} WHERE run_id = ?`, runId);
    const readable = endedAt === null || endedAt + this.parts.ttl.streamMs > this.parts.now();
    if (restored.entries.length === 0 || !readable) return;
    const ended = restored.entries.some(({ entry }) => isTerminal(entry));
    sql.run('INSERT INTO stream (run_id, first, ended_at) VALUES (?, ?, ?)', runId, streamBase + 1, ended ? endedAt : null);
    restored.entries.forEach(({ at, entry }, index) =>
      sql.run(
        'INSERT INTO stream_entry (run_id, last, at, bodies) VALUES (?, ?, ?, ?)',
        runId,
        streamBase + index + 1,
        at,
        JSON.stringify([entry]),
      ),
    );
  }
}

/** Raises the numbers of an open run above those that may have been used before. */
function raise({ sql }: Tick, runId: string, { streamBase, attempt, commandSeq }: Above): void {
  const stream = sql.get<{ first: number }>('SELECT first FROM stream WHERE run_id = ?', runId);
  if (!stream) sql.run('INSERT INTO stream (run_id, first) VALUES (?, ?)', runId, streamBase + 1);
  else if (stream.first <= streamBase) {
    const by = streamBase - (stream.first - 1);
    // By way of negative numbers, because the numbers must stay unique in between.
    sql.run('UPDATE stream_entry SET last = -(last + ?) WHERE run_id = ?', by, runId);
    sql.run('UPDATE stream_entry SET last = -last WHERE run_id = ?', runId);
    sql.run('UPDATE stream SET first = first + ? WHERE run_id = ?', by, runId);
  }
  sql.run(
    `INSERT INTO journal (run_id, step, attempt, owner, opening, nonce, repeated, outcome, at) VALUES (?, ?, ?, NULL, 0, '', 0, NULL, 0)
     ON CONFLICT DO UPDATE SET attempt = max(attempt, excluded.attempt)`,
    runId,
    baseStep,
    attempt,
  );
  sql.run('INSERT INTO command_seq (run_id, seq) VALUES (?, ?) ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq)', runId, commandSeq);
}
