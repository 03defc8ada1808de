import type { Event, PlanRequested } from '@conclave/contracts';
import {
  acceptedStatus,
  type Acceptance,
  type Accepted,
  type Committed,
  type Runs,
  type RunSummary,
  type Step,
  type StepTime,
  type StoredRun,
} from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import type { StoreCounter } from '../database/store-counter.js';
import type { LogTable } from '../event-log/log-table.js';
import type { SqliteRunStream } from '../run-stream.js';
import type { SqliteClients } from './clients.js';
import type { ProcessHints } from './hints.js';
import type { SqliteTimers } from './timers.js';

interface RunRow {
  readonly run_id: string;
  readonly accepted_at: number;
  readonly header: string | null;
  readonly version: number;
  readonly state: string | null;
  readonly status: string;
  readonly terminal: number;
}

export interface RunsParts {
  readonly database: Store;
  readonly log: LogTable;
  readonly stream: SqliteRunStream;
  readonly timers: SqliteTimers;
  readonly hints: ProcessHints;
  readonly clients: SqliteClients;
  readonly now: () => number;
  /** Milliseconds a retry mapping holds. */
  readonly retryKeyMs: number;
  readonly counter?: StoreCounter | undefined;
}

const runColumns = 'run_id, accepted_at, header, version, state, status, terminal';

/** A record of a run that nobody accepted leaves a row too; it takes no place among the open runs. */
const countOpen = 'SELECT COUNT(*) AS open FROM run WHERE terminal = 0 AND header IS NOT NULL';

/** Open runs whose state is kept beside the file: a run is busy in bursts, and a state has some ten kilobytes. */
const keptStates = 128;

export class SqliteRuns implements Runs {
  /** State by run as it was committed last by this process. A step never changes the state that it is given. */
  private readonly newest = new Map<string, { readonly version: number; readonly state: unknown }>();

  constructor(private readonly parts: RunsParts) {}

  accept({ header, retryKey, openLimit }: Acceptance): Promise<Accepted> {
    const { database, now, retryKeyMs } = this.parts;
    return database.write((tick): Accepted => {
      const { sql } = tick;
      const known =
        sql.get('SELECT 1 AS found FROM run WHERE run_id = ? AND (header IS NOT NULL OR terminal = 1)', header.runId) !== undefined;
      const { open } = sql.get<{ open: number }>(countOpen)!;
      if (!known && open >= openLimit) return { kind: 'overloaded', open };
      this.addHeader(tick, header);
      if (retryKey !== null) {
        sql.run(
          `INSERT INTO retry (retry_key, run_id, at) VALUES (?, ?, ?)
           ON CONFLICT DO UPDATE SET run_id = excluded.run_id, at = excluded.at WHERE at + ? <= excluded.at`,
          retryKey,
          header.runId,
          now(),
          retryKeyMs,
        );
      }
      return { kind: 'accepted' };
    });
  }

  async findRetry(retryKey: string): Promise<string | null> {
    const { database, now, retryKeyMs } = this.parts;
    const row = database.read((sql) =>
      sql.get<{ run_id: string }>('SELECT run_id FROM retry WHERE retry_key = ? AND at + ? > ?', retryKey, retryKeyMs, now()),
    );
    return row?.run_id ?? null;
  }

  async header(runId: string): Promise<PlanRequested | null> {
    const row = this.parts.database.read((sql) => sql.get<{ header: string | null }>('SELECT header FROM run WHERE run_id = ?', runId));
    return row?.header ? (JSON.parse(row.header) as PlanRequested) : null;
  }

  async unpublished(olderThanMs: number, limit: number): Promise<readonly PlanRequested[]> {
    const { database, now } = this.parts;
    const rows = database.read((sql) =>
      sql.all<{ header: string }>(
        'SELECT header FROM run WHERE version = 0 AND header IS NOT NULL AND accepted_at <= ? ORDER BY accepted_at LIMIT ?',
        now() - olderThanMs,
        limit,
      ),
    );
    return rows.map(({ header }) => JSON.parse(header) as PlanRequested);
  }

  /** There is one writer, so the compare-and-set of the version never meets a conflict: the step runs inside the write. */
  commit<S>(event: Event, step: (current: S | null, at: StepTime) => Step<S> | null): Promise<Committed<S>> {
    const { database, now } = this.parts;
    return database.order((tick): Committed<S> => {
      const { sql } = tick;
      const kept = this.newest.get(event.runId);
      const row = sql.get<{ version: number; state: string | null; accepted: 0 | 1 }>(
        'SELECT version, CASE WHEN version = ? THEN NULL ELSE state END AS state, header IS NOT NULL AS accepted FROM run WHERE run_id = ?',
        kept?.version ?? 0,
        event.runId,
      );
      const version = row?.version ?? 0;
      const state = kept?.version === version ? (kept.state as S) : row?.state ? (JSON.parse(row.state) as S) : null;
      const applied = sql.get<{ outputs: string }>('SELECT outputs FROM applied WHERE run_id = ? AND event_id = ?', event.runId, event.id);
      if (applied) return { outputs: JSON.parse(applied.outputs) as Event[], repeated: true, state };
      const result = step(state, { now: now(), version });
      if (result === null) return { outputs: [], repeated: false, state: null };
      // A log that is read again into an empty store brings runs that nobody accepted here.
      if (event.type === 'PlanRequested' && !row?.accepted) this.addHeader(tick, event as PlanRequested);
      this.store(tick, event, result);
      tick.afterWrite(() => this.keep(event.runId, version + 1, result));
      return { outputs: result.outputs, repeated: false, state: result.next };
    });
  }

  /** The next step of a run finds its state here, as long as the row has the version that was written with it. */
  private keep<S>(runId: string, version: number, { next, terminal }: Step<S>): void {
    this.newest.delete(runId);
    if (terminal) return;
    this.newest.set(runId, { version, state: next });
    if (this.newest.size <= keptStates) return;
    const [oldest] = this.newest.keys();
    this.newest.delete(oldest!);
  }

  private store<S>(tick: Tick, event: Event, step: Step<S>): void {
    const { log, stream, timers, now, counter } = this.parts;
    const { sql } = tick;
    const { runId } = event;
    counter?.stateStored();
    sql.run(
      `INSERT INTO run (run_id, accepted_at, version, state, status, terminal, ended_at) VALUES (?, ?, 1, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET version = version + 1, state = excluded.state, status = excluded.status,
         terminal = max(terminal, excluded.terminal), ended_at = coalesce(ended_at, excluded.ended_at)`,
      runId,
      now(),
      JSON.stringify(step.next),
      step.status,
      step.terminal ? 1 : 0,
      step.terminal ? now() : null,
    );
    sql.run('INSERT INTO applied (run_id, event_id, outputs) VALUES (?, ?, ?)', runId, event.id, JSON.stringify(step.outputs));
    timers.change(tick, runId, step.disarm, step.arm);
    for (const id of step.cancels) this.flag(tick, id);
    stream.write(tick, runId, step.entries);
    // Appended here already, so that no death between the commit and the publishing can hold them back.
    log.appendOutputs(tick, step.outputs);
  }

  async read<S>(runId: string): Promise<StoredRun<S> | null> {
    const row = this.parts.database.read((sql) => sql.get<RunRow>(`SELECT ${runColumns} FROM run WHERE run_id = ? AND version > 0`, runId));
    await this.parts.database.committed();
    return row ? { version: row.version, state: JSON.parse(row.state!) as S, status: row.status, terminal: row.terminal === 1 } : null;
  }

  async list({
    tenant,
    limit,
    before,
  }: {
    readonly tenant: string;
    readonly limit: number;
    readonly before?: number;
  }): Promise<readonly RunSummary[]> {
    const rows = this.parts.database.read((sql) =>
      sql.all<RunRow>(
        'SELECT run_id, accepted_at, header, status, terminal FROM run WHERE tenant = ? AND accepted_at < ? ORDER BY accepted_at DESC LIMIT ?',
        tenant,
        before ?? Number.MAX_SAFE_INTEGER,
        limit,
      ),
    );
    await this.parts.database.committed();
    return rows.map(summaryOf);
  }

  async openCount(): Promise<number> {
    return this.parts.database.read((sql) => sql.get<{ open: number }>(countOpen))!.open;
  }

  cancel(id: string): Promise<void> {
    return this.parts.database.write((tick) => this.flag(tick, id));
  }

  async cancelled(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.parts.database.read(
      (sql) =>
        new Set(
          ids.filter((id) => {
            const runId = id.split('/', 1)[0]!;
            return sql.get(
              'SELECT 1 AS found FROM cancel WHERE id = ? UNION ALL SELECT 1 FROM run WHERE run_id = ? AND terminal = 1',
              id,
              runId,
            );
          }),
        ),
    );
  }

  nextCommandSeq(runId: string): Promise<number> {
    return this.parts.database.write(
      ({ sql }) =>
        sql.get<{ seq: number }>(
          'INSERT INTO command_seq (run_id, seq) VALUES (?, 1) ON CONFLICT DO UPDATE SET seq = seq + 1 RETURNING seq',
          runId,
        )!.seq,
    );
  }

  attach(runId: string, clientId: string): Promise<number> {
    return this.parts.clients.attach(runId, clientId);
  }

  detach(runId: string, clientId: string): Promise<number> {
    return this.parts.clients.detach(runId, clientId);
  }

  park(parkMs: number, limit: number): Promise<{ readonly parked: number; readonly overdue: readonly string[] }> {
    return this.parts.clients.park(parkMs, limit);
  }

  /** Sets the header where there is none. No two runs share an acceptance time, so that a list can be paged by it. */
  private addHeader({ sql }: Tick, header: PlanRequested): void {
    const { newest } = sql.get<{ newest: number | null }>('SELECT MAX(accepted_at) AS newest FROM run')!;
    const acceptedAt = Math.max(this.parts.now(), (newest ?? 0) + 1);
    sql.run(
      `INSERT INTO run (run_id, tenant, actor, accepted_at, header, status) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET tenant = excluded.tenant, actor = excluded.actor, accepted_at = excluded.accepted_at, header = excluded.header
         WHERE header IS NULL`,
      header.runId,
      header.data.caller.tenant,
      header.data.caller.actor,
      acceptedAt,
      JSON.stringify(header),
      acceptedStatus,
    );
  }

  private flag(tick: Tick, id: string): void {
    tick.sql.run('INSERT INTO cancel (id, at) VALUES (?, ?) ON CONFLICT DO NOTHING', id, this.parts.now());
    tick.afterCommit(() => this.parts.hints.send('cancel', id));
  }
}

function summaryOf(row: RunRow): RunSummary {
  const header = JSON.parse(row.header!) as PlanRequested;
  return {
    runId: row.run_id,
    template: header.data.template.id,
    status: row.status,
    terminal: row.terminal === 1,
    acceptedAt: row.accepted_at,
    question: header.data.goal,
  };
}
