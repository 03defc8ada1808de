import { rootOf, type Event } from '@conclave/contracts';
import { encodeEventNow, erasedRecord, type EncodedRecord } from '@conclave/ports';
import { putBlob } from '../blobs.js';
import type { Store, Tick } from '../database/database.js';
import { ErasedRuns } from './erased-runs.js';
import { deleteBodies, recordsOfRun, writeErased } from './erasing.js';
import { NewestRecords, type LoggedRecord } from './newest-records.js';
import { bodyFrom, storedBody, type StoredBody } from './packed-body.js';
import { headersOf, storedHeaders, storedHeadersOf } from './stored-headers.js';
import { StandingBodies } from './standing-bodies.js';
import { Suspects } from './suspects.js';

interface LogRow extends StoredBody {
  readonly seq: number;
  readonly topic: string;
  readonly key: string | null;
  readonly event_id: string;
  readonly headers: string;
  /** Where the body of another record belongs in this one; null if the body is whole. */
  readonly part: string | null;
  readonly appended_at: number;
}

/** An event, or raw bytes that are not an event, under an id that is unique in its topic. */
export interface RecordToAppend {
  readonly topic: string;
  readonly key: string | null;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: Buffer | null;
  readonly part?: string | null;
  readonly event?: Event;
  /** The headers as they are in the row, if already known. */
  readonly stored?: string;
}

/** This process publishes a step right after its commit or never, so names beyond this limit are stale. */
const mostUnpublished = 10_000;

const nameOf = ({ topic, id }: Pick<Event, 'topic' | 'id'>): string => `${topic} ${id}`;

/** Most records that one write erases, so that requests in its tick wait only a few milliseconds. */
const erasedAtOnce = 50;

/** Most rows of one statement. */
const rowsAtOnce = 32;

/** Topics whose handlers write outside this file or have effects outside: their records are handed out only when durable. */
const goesOut: ReadonlySet<string> = new Set(['run.completed', 'knowledge.ingest']);

/** The table of all topics, ordered by its sequence. Watchers of a topic are woken when records are added. */
export class LogTable {
  private readonly wakers = new Map<string, Set<() => void>>();
  /** Names of records appended in this tick. */
  private readonly uncommitted = new Set<string>();
  /** Only of watched topics, so that consumers do not read back what was just written. */
  private readonly newest = new Map<string, NewestRecords>();
  /** Names of events that a commit appended and that were not published since. */
  private readonly unpublished = new Set<string>();

  readonly suspects: Suspects;
  readonly erased: ErasedRuns;
  private readonly bodies: StandingBodies;
  /** Highest position ever assigned. */
  private last: number;
  /** Highest position that is durable. */
  private durable: number;

  constructor(
    private readonly database: Store,
    private readonly now: () => number,
  ) {
    this.last = database.read((sql) => sql.get<{ seq: number }>(`SELECT seq FROM sqlite_sequence WHERE name = 'log'`))?.seq ?? 0;
    this.durable = this.last;
    this.suspects = new Suspects(database);
    this.bodies = new StandingBodies(database, now);
    this.erased = new ErasedRuns(database);
  }

  /** Appends events as part of a step; publishing them after its commit does nothing more. */
  appendOutputs(tick: Tick, events: readonly Event[]): void {
    this.appendEvents(tick, events);
    tick.afterWrite(() => {
      for (const event of events) this.unpublished.add(nameOf(event));
      for (const name of this.unpublished) {
        if (this.unpublished.size <= mostUnpublished) break;
        this.unpublished.delete(name);
      }
    });
  }

  /** Returns the events that no commit has appended yet, as far as this process remembers. */
  withoutAppended(events: readonly Event[]): readonly Event[] {
    return events.filter((event) => !this.unpublished.delete(nameOf(event)));
  }

  /** Appends events inside a running write; skips those whose id is already in their topic. */
  appendEvents(tick: Tick, events: readonly Event[]): void {
    this.insert(
      tick,
      events.map((event) => {
        if (this.erased.has(event.runId))
          return {
            ...erasedRecord(
              encodeEventNow(event, () => ({ sha256: '', bytes: 0 })),
              this.now(),
            ),
            id: event.id,
          };
        // Records delivered from memory are passed on as they were appended.
        const parted = this.newest.has(event.topic) ? null : this.bodies.part(tick, event);
        if (parted) return { ...parted, id: event.id, stored: storedHeadersOf(event, parted.headers) };
        const encoded: EncodedRecord = encodeEventNow(event, (body) => putBlob(tick, body, this.now()));
        return { ...encoded, id: event.id, event, stored: storedHeadersOf(event, encoded.headers) };
      }),
    );
  }

  append(tick: Tick, record: RecordToAppend): void {
    this.insert(tick, [this.erased.has(record.headers['ce_runid'] ?? '') ? erasedRecord(record, this.now()) : record]);
  }

  /** Positions are assigned here, each once, so that a repeated write uses the same ones. */
  private insert(tick: Tick, records: readonly RecordToAppend[]): void {
    const appendedAt = this.now();
    for (let from = 0; from < records.length; from += rowsAtOnce) {
      const rows = records.slice(from, from + rowsAtOnce).map((record) => ({ seq: (this.last += 1), record }));
      const added = tick.sql.run(
        `INSERT INTO log (seq, topic, key, event_id, headers, body, packed, part, appended_at) VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}
           ON CONFLICT DO NOTHING`,
        ...rows.flatMap(({ seq, record: { topic, key, id, headers, raw, part = null, stored } }) => {
          const { body, packed } = storedBody(raw);
          return [seq, topic, key, id, stored ?? storedHeaders(headers, { key, event_id: id }), body, packed, part, appendedAt];
        }),
      );
      const given = rows.map(({ seq }) => seq);
      // RETURNING costs more than the whole insert; a second query finds the inserted rows in the rare case of a duplicate.
      const seqs = new Set(added === rows.length ? given : heldOf(tick, given[0]!, given.at(-1)!));
      if (seqs.size === 0) continue;
      const newest = Math.max(...seqs);
      tick.afterCommit(() => {
        this.durable = Math.max(this.durable, newest);
        this.uncommitted.clear();
      });
      for (const { seq, record } of rows) {
        if (!seqs.has(seq)) continue;
        this.suspects.note(seq, record.headers['ce_runid']);
        const { topic, key, headers, raw, event } = record;
        const kept = { seq, topic, partition: 0, offset: String(seq), appendedAt, key, headers, raw, ...(event ? { event } : {}) };
        const name = nameOf({ topic, id: record.id });
        tick.afterWrite(() => {
          this.uncommitted.add(name);
          this.newest.get(topic)?.add(kept);
          if (event) this.bodies.stands(event);
        });
        (this.waitsForCommit(topic) ? tick.afterCommit : tick.afterWrite)(() => this.wake(topic));
      }
    }
  }

  /** Erases the records of a run and of its child runs, including those that still arrive. */
  async erase(runId: string): Promise<void> {
    const isOf = (id: string): boolean => id === runId || rootOf(id) === runId;
    const found = await this.database.write((tick) => {
      this.erased.add(tick, runId, this.now());
      return recordsOfRun(tick, runId, isOf);
    });
    for (let from = 0; from < found.seqs.length; from += erasedAtOnce)
      await this.database.write((tick) => {
        for (const seq of found.seqs.slice(from, from + erasedAtOnce)) this.eraseOne(tick, seq);
      });
    await this.database.write((tick) => {
      deleteBodies(tick, found);
      tick.afterWrite(() => this.bodies.forget());
    });
  }

  private eraseOne(tick: Tick, seq: number): void {
    const row = tick.sql.get<LogRow>('SELECT * FROM log WHERE seq = ?', seq);
    if (!row) return;
    const erased = writeErased(tick, this.recordOf(row), row.event_id, this.now());
    tick.afterWrite(() => this.newest.get(row.topic)?.replace(erased));
  }

  /** Records of the topic after a position, oldest first. */
  page(topic: string, after: number, limit: number): readonly LoggedRecord[] {
    const upTo = this.waitsForCommit(topic) ? this.durable : this.last;
    const kept = this.newest.get(topic)?.behind(after, upTo, limit);
    if (kept) return kept;
    const rows = this.database.read((sql) =>
      sql.all<LogRow>('SELECT * FROM log WHERE topic = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?', topic, after, upTo, limit),
    );
    return rows.map((row) => this.recordOf(row));
  }

  /** Whether the record of an event is committed together with the current writes. */
  isOfThisTick(record: Pick<Event, 'topic' | 'id'>): boolean {
    return this.uncommitted.has(nameOf(record));
  }

  /** The record of an event; null if it is unknown or pruned. */
  find(topic: string, eventId: string): LoggedRecord | null {
    const row = this.database.read((sql) => sql.get<LogRow>('SELECT * FROM log WHERE topic = ? AND event_id = ?', topic, eventId));
    return row ? this.recordOf(row) : null;
  }

  /** The whole body of an event, wherever it is stored; null if it is unknown or pruned. */
  bodyOf(topic: string, eventId: string): Buffer | null {
    return this.bodies.of(topic, eventId);
  }

  /** Highest position of the topic, 0 when it is empty. */
  end(topic: string): number {
    return this.database.read((sql) => sql.get<{ seq: number | null }>('SELECT MAX(seq) AS seq FROM log WHERE topic = ?', topic))?.seq ?? 0;
  }

  /** Calls `wake` whenever records were added to the topic; returns a function that stops it. */
  watch(topic: string, wake: () => void): () => void {
    const wakers = this.wakers.get(topic) ?? new Set();
    this.wakers.set(topic, wakers.add(wake));
    if (!this.newest.has(topic)) this.newest.set(topic, new NewestRecords(this.last));
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0) this.newest.delete(topic);
    };
  }

  private recordOf(row: LogRow): LoggedRecord {
    const raw = bodyFrom(row);
    return {
      seq: row.seq,
      topic: row.topic,
      partition: 0,
      offset: String(row.seq),
      appendedAt: row.appended_at,
      key: row.key,
      headers: headersOf(row.headers, row),
      raw: raw && row.part !== null ? this.bodies.whole(raw, row.part) : raw,
    };
  }

  private waitsForCommit(topic: string): boolean {
    return goesOut.has(topic) || this.suspects.some;
  }

  private wake(topic: string): void {
    for (const wake of this.wakers.get(topic) ?? []) wake();
  }
}

/** Positions of a range that the table contains. */
const heldOf = ({ sql }: Tick, first: number, last: number): readonly number[] =>
  sql.all<{ seq: number }>('SELECT seq FROM log WHERE seq BETWEEN ? AND ?', first, last).map(({ seq }) => seq);
