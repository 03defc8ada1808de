import { deadTopic } from '@conclave/contracts';
import { erasedRecord, isErased } from '@conclave/ports';
import type { Tick } from '../database/database.js';
import type { LoggedRecord } from './newest-records.js';
import { headersOf, storedHeaders } from './stored-headers.js';

interface NamedRow {
  readonly seq: number;
  readonly key: string | null;
  readonly event_id: string;
  readonly headers: string;
  readonly part: string | null;
}

/** Ids of the records of a run and of its child runs begin with its id; ids of letters and re-driven records do not. */
const ofRun = `SELECT seq, key, event_id, headers, part FROM log
  WHERE event_id = ? OR (event_id > ? AND event_id < ?) OR (event_id > ? AND event_id < ?)`;
const others = `SELECT seq, key, event_id, headers, part FROM log
  WHERE topic = ? UNION ALL SELECT seq, key, event_id, headers, part FROM log WHERE event_id > 'raw:' AND event_id < 'raw;'`;

/** What a run's records contain, or refer to, outside their rows. */
export interface RecordsOfRun {
  /** Positions of those that are not erased yet, newest first: a step is read together with its input, which is older. */
  readonly seqs: readonly number[];
  /** Hashes of bodies of their own. */
  readonly bodies: ReadonlySet<string>;
  /** Hashes of texts that other records may share. */
  readonly texts: ReadonlySet<string>;
}

/** The records of a run, including its child runs. `isOf` recognises them by the run in their headers. */
export function recordsOfRun({ sql }: Tick, runId: string, isOf: (runId: string) => boolean): RecordsOfRun {
  // '0' follows '/' and DEL follows '~': the ranges contain the ids of the run and of its child runs.
  const rows = [
    ...sql.all<NamedRow>(ofRun, runId, `${runId}/`, `${runId}0`, `${runId}~`, `${runId}\u007f`),
    ...sql.all<NamedRow>(others, deadTopic).filter((row) => isOf(headersOf(row.headers, row)['ce_runid'] ?? '')),
  ].map((row) => ({ ...row, all: headersOf(row.headers, row) }));
  const fresh = rows.filter(({ all }) => !isErased({ headers: all }));
  const references = fresh.flatMap(({ all: { ce_dataref } }) => (ce_dataref ? [ce_dataref.slice('sha256:'.length)] : []));
  const parts = fresh.flatMap(({ part }) => (part === null ? [] : [JSON.parse(part) as readonly unknown[]]));
  return {
    seqs: fresh.map(({ seq }) => seq).sort((a, b) => b - a),
    bodies: new Set(references),
    texts: new Set(parts.filter(({ length }) => length === 2).map((part) => String(part[1]))),
  };
}

/** Overwrites a record with what is left of it; returns that. */
export function writeErased({ sql }: Tick, record: LoggedRecord, eventId: string, now: number): LoggedRecord {
  const erased = erasedRecord(record, now);
  if (erased !== record)
    sql.run(
      'UPDATE log SET headers = ?, body = ?, packed = NULL, part = NULL WHERE seq = ?',
      storedHeaders(erased.headers, { key: record.key, event_id: eventId }),
      erased.raw,
      record.seq,
    );
  return erased;
}

/** Deletes the bodies, and the texts that no record contains any longer. */
export function deleteBodies({ sql }: Tick, { bodies, texts }: RecordsOfRun): void {
  for (const sha256 of bodies) sql.run('DELETE FROM blob WHERE sha256 = ?', sha256);
  for (const sha256 of texts) {
    const holder = sql.get("SELECT 1 AS found FROM log WHERE topic = 'audit' AND part LIKE ? LIMIT 1", `%"${sha256}"]`);
    if (!holder) sql.run('DELETE FROM blob WHERE sha256 = ?', sha256);
  }
}
