import { isTerminal, type StreamBody, type StreamEntry, type WorkerEntry } from '@conclave/contracts';
import { planAppend, type RunStream, type StreamPage, type TaskProgress } from '@conclave/ports';
import type { Store, Tick } from './database/database.js';
import type { ProcessHints } from './state/hints.js';

interface StreamRow {
  readonly last: number;
  readonly ended_at: number | null;
}

const nothing: StreamPage = { entries: [], first: 0, last: 0, ended: false };

export class SqliteRunStream implements RunStream {
  constructor(
    private readonly database: Store,
    private readonly hints: ProcessHints,
    private readonly now: () => number,
    /** Milliseconds a stream is readable after its terminal entry. */
    private readonly keepMs: number,
  ) {}

  append(runId: string, entries: readonly WorkerEntry[]): Promise<'appended' | 'refused'> {
    return this.database.order((tick) => {
      const { sql } = tick;
      if (sql.get<StreamRow>('SELECT last, ended_at FROM stream WHERE run_id = ?', runId)?.ended_at) return 'refused';
      const plan = planAppend((taskId) => {
        const row = sql.get<{ progress: string }>('SELECT progress FROM stream_task WHERE run_id = ? AND task_id = ?', runId, taskId);
        return row ? (JSON.parse(row.progress) as TaskProgress) : null;
      }, entries);
      if (plan.kind === 'refused') return 'refused';
      for (const [taskId, progress] of plan.progress) {
        sql.run('INSERT OR REPLACE INTO stream_task (run_id, task_id, progress) VALUES (?, ?, ?)', runId, taskId, JSON.stringify(progress));
      }
      this.write(tick, runId, plan.bodies);
      return 'appended';
    });
  }

  async read(runId: string, after: number, limit: number): Promise<StreamPage> {
    const page = this.database.read((sql): StreamPage => {
      const stream = sql.get<StreamRow>('SELECT last, ended_at FROM stream WHERE run_id = ?', runId);
      if (!stream || (stream.ended_at !== null && stream.ended_at + this.keepMs <= this.now())) return nothing;
      const first = sql.get<{ id: number | null }>('SELECT MIN(id) AS id FROM stream_entry WHERE run_id = ?', runId)?.id ?? 0;
      const rows = sql.all<{ id: number; at: number; body: string }>(
        'SELECT id, at, body FROM stream_entry WHERE run_id = ? AND id > ? ORDER BY id LIMIT ?',
        runId,
        after,
        limit,
      );
      const entries = rows.map(({ id, at, body }): StreamEntry => ({ ...(JSON.parse(body) as StreamBody), id, at }));
      return { entries, first, last: stream.last, ended: stream.ended_at !== null };
    });
    // Nobody is shown what a death could take back.
    await this.database.committed();
    return page;
  }

  /** Appends entries inside a write that is under way; those who listen are told after the commit. */
  write(tick: Tick, runId: string, bodies: readonly StreamBody[]): void {
    if (bodies.length === 0) return;
    const { sql } = tick;
    const now = this.now();
    const { last } = sql.get<StreamRow>(
      'INSERT INTO stream (run_id, last) VALUES (?, ?) ON CONFLICT DO UPDATE SET last = last + excluded.last RETURNING last, ended_at',
      runId,
      bodies.length,
    )!;
    bodies.forEach((body, index) => {
      const id = last - bodies.length + 1 + index;
      sql.run('INSERT INTO stream_entry (run_id, id, at, body) VALUES (?, ?, ?, ?)', runId, id, now, JSON.stringify(body));
    });
    if (bodies.some(isTerminal)) sql.run('UPDATE stream SET ended_at = coalesce(ended_at, ?) WHERE run_id = ?', now, runId);
    tick.afterCommit(() => this.hints.send('stream', runId));
  }
}
