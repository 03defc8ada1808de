import { isTerminal, type StreamBody, type StreamEntry } from '@conclave/contracts';
import { progressIn, type TaskProgress } from '@conclave/ports';
import type { Statements, Store, Tick } from './database/database.js';
import { Kept } from './kept.js';

interface Pending {
  readonly id: number;
  readonly at: number;
  /** JSON of the body. */
  readonly body: string;
}

interface PartRow {
  readonly last: number;
  readonly at: number;
  readonly bodies: string;
}

/** One stream as this process, its only writer, knows it. */
export interface KeptStream {
  readonly runId: string;
  /** Id of the first entry; 1 unless the store was rebuilt. */
  first: number;
  /** Id of the last entry, 0 for an empty stream. */
  last: number;
  endedAt: number | null;
  readonly tasks: Map<string, TaskProgress>;
  /** Ordered but not written yet. */
  pending: Pending[];
  /** The newest entries, without a gap. */
  newest: StreamEntry[];
  /** Whether it has a row. */
  stored: boolean;
}

/** Most streams in memory; others are read from the file when needed. */
const mostKept = 512;
/** Maximum number of entries of a stream in memory; a reader that is further behind reads the file. */
const mostNewest = 64;
/** Most rows of one statement. */
const rowsAtOnce = 32;

/** The last entry of a stream that readers can see, and the end time if that entry is the end. */
export const shownOf = ({ pending, last, endedAt }: KeptStream): { readonly last: number; readonly endedAt: number | null } =>
  pending.length > 0 ? { last: pending[0]!.id - 1, endedAt: null } : { last, endedAt };

/** All streams of a database, shared by its users. Entries of one run and tick become one row, written with the commit. */
export class Streams {
  private readonly kept = new Kept<KeptStream>(mostKept, ({ pending }) => pending.length > 0);
  private readonly changed = new Set<KeptStream>();

  constructor(private readonly database: Store) {}

  of(runId: string): KeptStream {
    return this.kept.get(runId) ?? this.kept.set(runId, this.load(runId));
  }

  /** Adds bodies as part of a write. */
  add(tick: Tick, stream: KeptStream, bodies: readonly StreamBody[], at: number): void {
    if (bodies.length === 0) return;
    const texts = bodies.map((body) => JSON.stringify(body));
    const ends = bodies.some(isTerminal);
    tick.afterWrite(() => {
      for (const [index, body] of texts.entries()) {
        const id = (stream.last += 1);
        stream.pending.push({ id, at, body });
        stream.newest.push({ ...bodies[index]!, id, at });
      }
      if (stream.newest.length > mostNewest) stream.newest = stream.newest.slice(-mostNewest / 2);
      if (ends) stream.endedAt ??= at;
      this.changed.add(stream);
      this.database.beforeCommit(this, (sql) => this.write(sql));
    });
  }

  /** Entries after `after` that a crash cannot lose. */
  read(stream: KeptStream, after: number, limit: number): readonly StreamEntry[] {
    const { last } = shownOf(stream);
    if (after >= last) return [];
    const { newest } = stream;
    if (newest.length > 0 && newest[0]!.id <= after + 1) return newest.filter(({ id }) => id > after && id <= last).slice(0, limit);
    const rows = this.database.read((sql) =>
      sql.all<PartRow>(
        'SELECT last, at, bodies FROM stream_entry WHERE run_id = ? AND last > ? ORDER BY last LIMIT ?',
        stream.runId,
        after,
        limit,
      ),
    );
    return rows
      .flatMap(entriesOf)
      .filter(({ id }) => id > after)
      .slice(0, limit);
  }

  forget(runId: string): void {
    this.kept.forget(runId);
  }

  forgetAll(): void {
    this.kept.forgetAll();
  }

  private load(runId: string): KeptStream {
    return this.database.read((sql) => {
      const row = sql.get<{ first: number; ended_at: number | null }>('SELECT first, ended_at FROM stream WHERE run_id = ?', runId);
      const nothing = {
        runId,
        first: 1,
        last: 0,
        endedAt: null,
        tasks: new Map<string, TaskProgress>(),
        pending: [],
        newest: [],
        stored: false,
      };
      if (!row) return nothing;
      const parts = sql.all<PartRow>('SELECT last, at, bodies FROM stream_entry WHERE run_id = ? ORDER BY last', runId);
      const tasks = progressIn(parts.flatMap(entriesOf));
      const last = parts.at(-1)?.last ?? row.first - 1;
      return { ...nothing, first: row.first, last, endedAt: row.ended_at, tasks, stored: true };
    });
  }

  private write(sql: Statements): void {
    const rows: [string, number, number, string][] = [];
    for (const { runId, pending } of this.changed) {
      for (const [index, { id, at, body }] of pending.entries()) {
        const row = rows.at(-1);
        if (index > 0 && row![2] === at) rows[rows.length - 1] = [runId, id, at, `${row![3]},${body}`];
        else rows.push([runId, id, at, body]);
      }
    }
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      const some = rows.slice(from, from + rowsAtOnce);
      sql.run(
        `INSERT INTO stream_entry (run_id, last, at, bodies) VALUES ${some.map(() => '(?, ?, ?, ?)').join(', ')} ON CONFLICT DO NOTHING`,
        ...some.flatMap(([runId, last, at, bodies]) => [runId, last, at, `[${bodies}]`]),
      );
    }
    for (const stream of this.changed) {
      const { runId, first, endedAt, stored } = stream;
      if (!stored || endedAt !== null)
        sql.run(
          'INSERT INTO stream (run_id, first, ended_at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET ended_at = coalesce(ended_at, excluded.ended_at)',
          runId,
          first,
          endedAt,
        );
      stream.stored = true;
      stream.pending = [];
    }
    this.changed.clear();
  }
}

function entriesOf({ last, at, bodies }: PartRow): readonly StreamEntry[] {
  const parts = JSON.parse(bodies) as readonly StreamBody[];
  return parts.map((body, index): StreamEntry => ({ ...body, id: last - parts.length + 1 + index, at }));
}
