import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Event } from '@conclave/contracts';
import type { Clock, Folding, Step } from '@conclave/ports';
import type { Statements, Store } from '../database/database.js';
import { bytesOf } from '../database/sql.js';
import type { LogTable } from '../event-log/log-table.js';
import { Kept } from '../kept.js';

/** A step that was applied but not written yet. */
interface Applied {
  readonly eventId: string;
  readonly outputs: readonly Event[];
}

/** One run as this process, its only writer, knows it. */
export interface KeptRun {
  readonly runId: string;
  version: number;
  /** Null before the first step. Steps never mutate it. */
  state: unknown;
  status: string;
  /** Whether it was accepted: it has a header. */
  accepted: boolean;
  terminal: boolean;
  /** Ids of the events that were applied. */
  readonly applied: Set<string>;
  pending: Applied[];
  /** Whether its row lacks the newest version or a state that has to be written. */
  changed: boolean;
  /** Version of the state in its row. The steps after it are folded from their records. */
  storedVersion: number;
  /** When its state was written last, or its first step was taken, in milliseconds since 1970. */
  storedAt: number;
  /** Whether its state has to be written with the next commit. */
  owesState: boolean;
  /** When its newest step was taken, in milliseconds since 1970. */
  at: number;
}

interface RunRow {
  readonly version: number;
  readonly state: string | null;
  readonly packed: unknown;
  readonly state_version: number;
  readonly status: string;
  readonly accepted: 0 | 1;
  readonly terminal: 0 | 1;
}

/** An output of a step in its row: a reference to the log, or, in a rebuilt run, the whole event. */
export type StoredOutput = Pick<Event, 'topic' | 'id'> | Event;

/** Most runs in memory: a run is busy in bursts, and a state has some ten kilobytes. */
const mostKept = 256;
/** Most rows of one statement. */
const rowsAtOnce = 32;
/** Milliseconds between two states of an open run in the file. Calls of a model last a second or more: each step would write one. */
const storeEveryMs = 10_000;

export interface KeptRunsParts {
  readonly database: Store;
  readonly log: LogTable;
  readonly clock: Clock;
  /** Without it every state is written. */
  readonly folding: Folding | null;
  readonly stateStored: () => void;
}

/**
 * Runs of a database with recent steps, shared by its users. A step changes the run here at once; its row is written with the commit,
 * once for all steps of a tick. The records of the steps are the truth; the state is written at the end of the run and at most every ten
 * seconds before, and folded forward when the run is read after a death.
 */
export class KeptRuns {
  private readonly kept = new Kept<KeptRun>(mostKept, ({ changed, storedVersion, version }) => changed || storedVersion < version);
  private readonly changed = new Set<KeptRun>();
  /** Runs whose state in the file is older than their version. */
  private readonly behind = new Set<KeptRun>();
  private cancelTimer: (() => void) | null = null;

  constructor(private readonly parts: KeptRunsParts) {}

  of(runId: string): KeptRun {
    return this.known(runId) ?? this.kept.set(runId, this.load(runId));
  }

  known(runId: string): KeptRun | undefined {
    return this.kept.get(runId);
  }

  /** The run as of a durable step, for readers. */
  async read(runId: string): Promise<KeptRun> {
    await this.parts.database.committed();
    while (this.known(runId)?.changed) await this.parts.database.committed();
    return this.known(runId) ?? this.load(runId);
  }

  /** Takes effect at once; call it when the write of the step succeeded. */
  advance<S>(run: KeptRun, eventId: string, { next, terminal, status, outputs }: Step<S>, at: number): void {
    const { folding } = this.parts;
    run.version += 1;
    run.state = next;
    run.status = status;
    run.terminal ||= terminal;
    run.applied.add(eventId);
    run.pending.push({ eventId, outputs });
    run.at = at;
    if (run.version === 1) run.storedAt = at;
    const record = folding?.recordAt(run.runId, run.version);
    const isRecorded = record !== undefined && outputs.some(({ topic, id }) => topic === record.topic && id === record.id);
    run.owesState ||= run.terminal || !isRecorded || at - run.storedAt >= storeEveryMs;
    this.toWrite(run);
    if (run.owesState) return;
    this.behind.add(run);
    this.cancelTimer ??= this.parts.clock.after(storeEveryMs, () => this.storeBehind());
  }

  /** Writes the states that are behind with the next commit. */
  storeBehind(): void {
    this.cancelTimer?.();
    this.cancelTimer = null;
    for (const run of this.behind) {
      run.owesState = true;
      this.toWrite(run);
    }
  }

  forget(runId: string): void {
    const run = this.known(runId);
    if (run) this.behind.delete(run);
    this.kept.forget(runId);
  }

  forgetAll(): void {
    this.kept.forgetAll();
  }

  private toWrite(run: KeptRun): void {
    run.changed = true;
    this.changed.add(run);
    this.parts.database.beforeCommit(this, (sql) => this.write(sql));
  }

  private load(runId: string): KeptRun {
    return this.parts.database.read((sql) => {
      const row = sql.get<RunRow>(
        'SELECT version, state, packed, state_version, status, header IS NOT NULL AS accepted, terminal FROM run WHERE run_id = ?',
        runId,
      );
      const applied = row && row.version > 0 ? sql.all<{ event_id: string }>('SELECT event_id FROM applied WHERE run_id = ?', runId) : [];
      return {
        runId,
        version: row?.version ?? 0,
        state: row ? this.folded(runId, row) : null,
        status: row?.status ?? '',
        accepted: row?.accepted === 1,
        terminal: row?.terminal === 1,
        applied: new Set(applied.map(({ event_id }) => event_id)),
        pending: [],
        changed: false,
        storedVersion: row?.state_version ?? 0,
        storedAt: 0,
        owesState: false,
        at: 0,
      };
    });
  }

  /** The state in the row, and the steps recorded after it. */
  private folded(runId: string, { version, state_version: storedVersion, state: text, packed }: RunRow): unknown {
    const { folding, log } = this.parts;
    const json = packed === null ? text : inflateRawSync(bytesOf(packed)).toString('utf8');
    let state = json === null ? null : (JSON.parse(json) as unknown);
    for (let next = storedVersion + 1; next <= version; next += 1) {
      const record = folding?.recordAt(runId, next);
      const body = record && log.bodyOf(record.topic, record.id);
      if (!folding || !body)
        throw new Error(`The state of ${runId} cannot be determined: step ${next} is not on the log or cannot be read here.`);
      state = folding.fold(runId, state, JSON.parse(body.toString('utf8')));
    }
    return state;
  }

  private write(sql: Statements): void {
    const steps: (readonly [runId: string, eventId: string, outputs: string])[] = [];
    for (const run of this.changed) {
      this.writeRun(sql, run);
      for (const { eventId, outputs } of run.pending)
        steps.push([run.runId, eventId, JSON.stringify(outputs.map(({ topic, id }): StoredOutput => ({ topic, id })))]);
    }
    for (let from = 0; from < steps.length; from += rowsAtOnce) {
      const some = steps.slice(from, from + rowsAtOnce);
      sql.run(
        `INSERT INTO applied (run_id, event_id, outputs) VALUES ${some.map(() => '(?, ?, ?)').join(', ')} ON CONFLICT DO NOTHING`,
        ...some.flat(),
      );
    }
    for (const run of this.changed) {
      run.pending = [];
      run.changed = false;
      if (!run.owesState) continue;
      run.owesState = false;
      run.storedVersion = run.version;
      run.storedAt = run.at;
      this.behind.delete(run);
    }
    this.changed.clear();
  }

  /** Columns that an index depends on are named only when they change. */
  private writeRun(sql: Statements, { runId, version, state, status, terminal, at, owesState }: KeptRun): void {
    sql.run(
      `INSERT INTO run (run_id, accepted_at, version, status) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET version = excluded.version, status = excluded.status`,
      runId,
      at,
      version,
      status,
    );
    if (!owesState) return;
    this.parts.stateStored();
    const json = JSON.stringify(state);
    if (terminal)
      sql.run(
        'UPDATE run SET state = NULL, packed = ?, state_version = ?, terminal = 1, ended_at = coalesce(ended_at, ?) WHERE run_id = ?',
        deflateRawSync(json, { level: 1 }),
        version,
        at,
        runId,
      );
    else sql.run('UPDATE run SET state = ?, packed = NULL, state_version = ? WHERE run_id = ?', json, version, runId);
  }
}
