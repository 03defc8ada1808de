import { depthOf, type Event, type PlanRequested } from '@conclave/contracts';
import {
  acceptedStatus,
  type AcceptRequest,
  type AcceptResult,
  type Blobs,
  type Committed,
  type ErasedRun,
  type Runs,
  type RunSummary,
  type Step,
  type StepTime,
  storedRecord,
  type StoredRun,
} from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import type { LogTable } from '../event-log/log-table.js';
import type { SqliteRunStream } from '../run-stream.js';
import type { CancelFlags } from './cancel-flags.js';
import { eraseRun } from './erase-run.js';
import type { SqliteClients } from './clients.js';
import type { ProcessHints } from './hints.js';
import type { KeptRuns, StoredOutput } from './kept-runs.js';
import type { SqliteTimers } from './timers.js';

interface RunRow {
  readonly run_id: string;
  readonly accepted_at: number;
  readonly header: string | null;
  readonly status: string;
  readonly terminal: number;
}

export interface RunsParts {
  readonly database: Store;
  readonly runs: KeptRuns;
  readonly flags: CancelFlags;
  readonly blobs: Blobs;
  readonly log: LogTable;
  readonly stream: SqliteRunStream;
  readonly timers: SqliteTimers;
  readonly hints: ProcessHints;
  readonly clients: SqliteClients;
  readonly now: () => number;
  /** Drops a run from memory, so that it is read again. */
  readonly forget: (runId: string) => void;
  /** Milliseconds a retry mapping is valid. */
  readonly retryKeyMs: number;
}

/** A record of a run that was never accepted leaves a row too; neither it nor a child run counts as an open run. */
const countOpen = "SELECT COUNT(*) AS open FROM run WHERE terminal = 0 AND header IS NOT NULL AND instr(run_id, '~') = 0";

export class SqliteRuns implements Runs {
  constructor(private readonly parts: RunsParts) {}

  accept({ header, retryKey, openLimit }: AcceptRequest): Promise<AcceptResult> {
    const { database, log, now, retryKeyMs } = this.parts;
    return database.write((tick): AcceptResult => {
      const { sql } = tick;
      if (log.erased.has(header.runId)) return { kind: 'erased' };
      const known =
        sql.get('SELECT 1 AS found FROM run WHERE run_id = ? AND (header IS NOT NULL OR terminal = 1)', header.runId) !== undefined;
      const { open } = sql.get<{ open: number }>(countOpen)!;
      if (!known && open >= openLimit && depthOf(header.runId) === 0) return { kind: 'overloaded', open };
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
    await database.committed();
    const rows = database.read((sql) =>
      sql.all<{ header: string }>(
        'SELECT header FROM run WHERE version = 0 AND header IS NOT NULL AND accepted_at <= ? ORDER BY accepted_at LIMIT ?',
        now() - olderThanMs,
        limit,
      ),
    );
    return rows.map(({ header }) => JSON.parse(header) as PlanRequested);
  }

  /** With one writer there are no version conflicts: the step runs inside the write. */
  async commit<S>(event: Event, step: (current: S | null, at: StepTime) => Step<S> | null): Promise<Committed<S>> {
    const { database, log, runs, now } = this.parts;
    const { runId } = event;
    const committed = await database.order((tick): Committed<S> | 'repeated' => {
      if (log.erased.has(runId)) return { outputs: [], repeated: false, state: null };
      const run = runs.of(runId);
      if (run.applied.has(event.id)) return 'repeated';
      const at = now();
      const result = step(run.state as S | null, { now: at, version: run.version });
      if (result === null) return { outputs: [], repeated: false, state: null };
      // Replaying a log into an empty store meets runs that were not accepted here.
      if (event.type === 'PlanRequested' && !run.accepted) this.addHeader(tick, event as PlanRequested);
      this.store(tick, runId, result);
      tick.afterWrite(() => runs.advance(run, event.id, result, at));
      return { outputs: result.outputs, repeated: false, state: result.next };
    });
    if (committed !== 'repeated') return committed;
    return { outputs: await this.outputsOf(runId, event.id), repeated: true, state: runs.of(runId).state as S | null };
  }

  /** The outputs of a step when it was applied, as far as they are still on the log. */
  private async outputsOf(runId: string, eventId: string): Promise<readonly Event[]> {
    const { database, runs, log, blobs } = this.parts;
    const pending = runs.of(runId).pending.find((applied) => applied.eventId === eventId);
    if (pending) return pending.outputs;
    const row = database.read((sql) =>
      sql.get<{ outputs: string }>('SELECT outputs FROM applied WHERE run_id = ? AND event_id = ?', runId, eventId),
    );
    const outputs = JSON.parse(row?.outputs ?? '[]') as readonly StoredOutput[];
    const events = outputs.map(async (output) => {
      if ('type' in output) return output;
      const record = log.find(output.topic, output.id);
      return record && (await storedRecord(record, blobs)).event;
    });
    return (await Promise.all(events)).filter((output) => output !== null);
  }

  private store<S>(tick: Tick, runId: string, step: Step<S>): void {
    const { log, stream, timers } = this.parts;
    timers.change(tick, runId, step.disarm, step.arm);
    for (const id of step.cancels) this.flag(tick, id);
    if (step.terminal) tick.afterCommit(() => this.parts.hints.send('cancel', runId));
    stream.write(tick, runId, step.entries);
    // Appended here, so that a crash between commit and publishing cannot lose them.
    log.appendOutputs(tick, step.outputs);
  }

  async read<S>(runId: string): Promise<StoredRun<S> | null> {
    const { version, state, status, terminal } = await this.parts.runs.read(runId);
    return state !== null ? { version, state: state as S, status, terminal } : null;
  }

  async erase({ runId, ...run }: Omit<ErasedRun, 'erasedAt'>): Promise<'erased' | 'open'> {
    const { database, log, now, forget } = this.parts;
    return database.write((tick) => {
      const { sql } = tick;
      if (sql.get('SELECT 1 AS found FROM run WHERE run_id = ? AND terminal = 0', runId)) return 'open';
      if (this.tombstone(runId) === null) eraseRun(tick, log.erased, { runId, ...run, erasedAt: now() });
      tick.afterWrite(() => forget(runId));
      return 'erased';
    });
  }

  async erased(runId: string): Promise<ErasedRun | null> {
    const text = this.tombstone(runId);
    return text === null ? null : (JSON.parse(text) as ErasedRun);
  }

  private tombstone(runId: string): string | null {
    return (
      this.parts.database.read((sql) => sql.get<{ tombstone: string | null }>('SELECT tombstone FROM erased_run WHERE run_id = ?', runId))
        ?.tombstone ?? null
    );
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
    await this.parts.database.committed();
    const rows = this.parts.database.read((sql) =>
      sql.all<RunRow>(
        "SELECT run_id, accepted_at, header, status, terminal FROM run WHERE tenant = ? AND header IS NOT NULL AND instr(run_id, '~') = 0 AND accepted_at < ? ORDER BY accepted_at DESC LIMIT ?",
        tenant,
        before ?? Number.MAX_SAFE_INTEGER,
        limit,
      ),
    );
    return rows.map(summaryOf);
  }

  async openCount(): Promise<number> {
    await this.parts.database.committed();
    return this.parts.database.read((sql) => sql.get<{ open: number }>(countOpen))!.open;
  }

  cancel(id: string): Promise<void> {
    return this.parts.database.write((tick) => this.flag(tick, id));
  }

  async cancelled(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(ids.filter((id) => this.parts.flags.has(id) || this.hasEnded(id.split('/', 1)[0]!)));
  }

  private hasEnded(runId: string): boolean {
    const known = this.parts.runs.known(runId);
    if (known) return known.terminal;
    return this.parts.database.read((sql) => sql.get('SELECT 1 AS found FROM run WHERE run_id = ? AND terminal = 1', runId)) !== undefined;
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

  leave(runId: string, clientId: string): Promise<number> {
    return this.parts.clients.leave(runId, clientId);
  }

  park(parkMs: number, limit: number): Promise<{ readonly parked: number; readonly overdue: readonly string[] }> {
    return this.parts.clients.park(parkMs, limit);
  }

  /** Sets the header if it is missing. Acceptance times are unique, so that a list can be paged by them. */
  private addHeader(tick: Tick, header: PlanRequested): void {
    const { sql } = tick;
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
    tick.afterWrite(() => {
      const run = this.parts.runs.known(header.runId);
      if (run) run.accepted = true;
    });
  }

  private flag(tick: Tick, id: string): void {
    this.parts.flags.set(tick, id, this.parts.now());
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
