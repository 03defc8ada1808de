import type { Event } from '@conclave/contracts';
import type { Step } from '@conclave/ports';
import type { Statements, Store } from '../database/database.js';
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
  /** Whether it was accepted: it has a header. */
  accepted: boolean;
  terminal: boolean;
  /** Ids of the events that were applied. */
  readonly applied: Set<string>;
  pending: Applied[];
  /** To be written to its row; null when nothing changed. */
  newest: { readonly status: string; readonly at: number } | null;
}

/** An output of a step in its row: a reference to the log, or, in a rebuilt run, the whole event. */
export type StoredOutput = Pick<Event, 'topic' | 'id'> | Event;

/** Most runs in memory: a run is busy in bursts, and a state has some ten kilobytes. */
const mostKept = 256;
/** Most rows of one statement. */
const rowsAtOnce = 32;

/**
 * Runs of a database with recent steps, shared by its users. A step changes the run here at once; its row is written with the commit,
 * once for all steps of a tick.
 */
export class KeptRuns {
  private readonly kept = new Kept<KeptRun>(mostKept, ({ newest }) => newest !== null);
  private readonly changed = new Set<KeptRun>();

  constructor(
    private readonly database: Store,
    private readonly stateStored: () => void,
  ) {}

  of(runId: string): KeptRun {
    return this.known(runId) ?? this.kept.set(runId, this.load(runId));
  }

  known(runId: string): KeptRun | undefined {
    return this.kept.get(runId);
  }

  /** Takes effect at once; call it when the write of the step succeeded. */
  advance<S>(run: KeptRun, eventId: string, { next, terminal, status, outputs }: Step<S>, at: number): void {
    run.version += 1;
    run.state = next;
    run.terminal ||= terminal;
    run.applied.add(eventId);
    run.pending.push({ eventId, outputs });
    run.newest = { status, at };
    this.changed.add(run);
    this.database.beforeCommit(this, (sql) => this.write(sql));
  }

  forget(runId: string): void {
    this.kept.forget(runId);
  }

  forgetAll(): void {
    this.kept.forgetAll();
  }

  private load(runId: string): KeptRun {
    return this.database.read((sql) => {
      const row = sql.get<{ version: number; state: string | null; accepted: 0 | 1; terminal: 0 | 1 }>(
        'SELECT version, state, header IS NOT NULL AS accepted, terminal FROM run WHERE run_id = ?',
        runId,
      );
      const applied = row && row.version > 0 ? sql.all<{ event_id: string }>('SELECT event_id FROM applied WHERE run_id = ?', runId) : [];
      return {
        runId,
        version: row?.version ?? 0,
        state: row?.state ? (JSON.parse(row.state) as unknown) : null,
        accepted: row?.accepted === 1,
        terminal: row?.terminal === 1,
        applied: new Set(applied.map(({ event_id }) => event_id)),
        pending: [],
        newest: null,
      };
    });
  }

  private write(sql: Statements): void {
    const steps: (readonly [runId: string, eventId: string, outputs: string])[] = [];
    for (const { runId, version, state, terminal, pending, newest } of this.changed) {
      const { status, at } = newest!;
      this.stateStored();
      sql.run(
        `INSERT INTO run (run_id, accepted_at, version, state, status, terminal, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET version = excluded.version, state = excluded.state, status = excluded.status,
           terminal = max(terminal, excluded.terminal), ended_at = coalesce(ended_at, excluded.ended_at)`,
        runId,
        at,
        version,
        JSON.stringify(state),
        status,
        terminal ? 1 : 0,
        terminal ? at : null,
      );
      for (const { eventId, outputs } of pending)
        steps.push([runId, eventId, JSON.stringify(outputs.map(({ topic, id }): StoredOutput => ({ topic, id })))]);
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
      run.newest = null;
    }
    this.changed.clear();
  }
}
