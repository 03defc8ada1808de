import type { Event } from '@conclave/contracts';
import { encodeEventNow, type EncodedRecord } from '@conclave/ports';
import { putBlob } from '../blobs.js';
import type { Store, Tick } from '../database/database.js';
import { bytesOf } from '../database/sql.js';
import { NewestRecords, type LoggedRecord } from './newest-records.js';
import { headersOf, storedHeaders } from './stored-headers.js';
import { Suspects } from './suspects.js';

interface LogRow {
  readonly seq: number;
  readonly topic: string;
  readonly key: string | null;
  readonly event_id: string;
  readonly headers: string;
  readonly body: unknown;
  readonly appended_at: number;
}

/** What the table takes: an event, or raw bytes that are none, under an id that is unique in its topic. */
export interface RecordToAppend {
  readonly topic: string;
  readonly key: string | null;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: Buffer | null;
  readonly event?: Event;
}

/** A step is published right after its commit, or never by this process: more names than this are old ones. */
const mostUnpublished = 10_000;

const nameOf = ({ topic, id }: Pick<Event, 'topic' | 'id'>): string => `${topic} ${id}`;

/** Rows of one statement at most. */
const rowsAtOnce = 32;

/** Topics whose handlers write outside of this file, or are about what the world was told: their records are handed out when they are durable. */
const goesOut: ReadonlySet<string> = new Set(['run.completed', 'knowledge.ingest']);

/** The one table all topics live in, ordered by its sequence. Those who wait for a topic are woken when something was added to it. */
export class LogTable {
  private readonly wakers = new Map<string, Set<() => void>>();
  /** Names of records that the present tick has appended. */
  private readonly uncommitted = new Set<string>();
  /** Of the topics that somebody waits for: nobody reads back what was just written. */
  private readonly newest = new Map<string, NewestRecords>();
  /** Names of events that a commit has appended and that were not published since. */
  private readonly unpublished = new Set<string>();

  readonly suspects: Suspects;
  /** Highest position that was ever given. */
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
  }

  /** Appends events as part of a step; who publishes them after its commit has nothing left to do. */
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

  /** Those that no commit has appended already, as far as this process remembers. */
  withoutAppended(events: readonly Event[]): readonly Event[] {
    return events.filter((event) => !this.unpublished.delete(nameOf(event)));
  }

  /** Appends events inside a write that is under way. An event whose id is already in its topic is left out. */
  appendEvents(tick: Tick, events: readonly Event[]): void {
    this.insert(
      tick,
      events.map((event) => {
        const encoded: EncodedRecord = encodeEventNow(event, (body) => putBlob(tick, body, this.now()));
        return { ...encoded, id: event.id, event };
      }),
    );
  }

  append(tick: Tick, record: RecordToAppend): void {
    this.insert(tick, [record]);
  }

  /** The positions are given here and never twice, so that a write that has to be made again gives the same ones. */
  private insert(tick: Tick, records: readonly RecordToAppend[]): void {
    const appendedAt = this.now();
    for (let from = 0; from < records.length; from += rowsAtOnce) {
      const rows = records.slice(from, from + rowsAtOnce).map((record) => ({ seq: (this.last += 1), record }));
      const added = tick.sql.run(
        `INSERT INTO log (seq, topic, key, event_id, headers, body, appended_at) VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}
           ON CONFLICT DO NOTHING`,
        ...rows.flatMap(({ seq, record: { topic, key, id, headers, raw } }) => [
          seq,
          topic,
          key,
          id,
          storedHeaders(headers, { key, event_id: id }),
          raw,
          appendedAt,
        ]),
      );
      const given = rows.map(({ seq }) => seq);
      // Rows that are given back cost more than the whole insert; which ones were there already is asked in the rare case that any was.
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
        });
        (this.waitsForCommit(topic) ? tick.afterCommit : tick.afterWrite)(() => this.wake(topic));
      }
    }
  }

  /** Records of the topic behind a position, oldest first. */
  page(topic: string, after: number, limit: number): readonly LoggedRecord[] {
    const upTo = this.waitsForCommit(topic) ? this.durable : this.last;
    const kept = this.newest.get(topic)?.behind(after, upTo, limit);
    if (kept) return kept;
    const rows = this.database.read((sql) =>
      sql.all<LogRow>('SELECT * FROM log WHERE topic = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?', topic, after, upTo, limit),
    );
    return rows.map(recordOf);
  }

  /** Whether the record of an event is committed together with what is written now. */
  isOfThisTick(record: Pick<Event, 'topic' | 'id'>): boolean {
    return this.uncommitted.has(nameOf(record));
  }

  /** The record of an event; null where there is none, or none any more. */
  find(topic: string, eventId: string): LoggedRecord | null {
    const row = this.database.read((sql) => sql.get<LogRow>('SELECT * FROM log WHERE topic = ? AND event_id = ?', topic, eventId));
    return row ? recordOf(row) : null;
  }

  /** Highest position of the topic, 0 when it is empty. */
  end(topic: string): number {
    return this.database.read((sql) => sql.get<{ seq: number | null }>('SELECT MAX(seq) AS seq FROM log WHERE topic = ?', topic))?.seq ?? 0;
  }

  /** Calls back whenever something was added to the topic. */
  watch(topic: string, wake: () => void): () => void {
    const wakers = this.wakers.get(topic) ?? new Set();
    this.wakers.set(topic, wakers.add(wake));
    if (!this.newest.has(topic)) this.newest.set(topic, new NewestRecords(this.last));
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0) this.newest.delete(topic);
    };
  }

  private waitsForCommit(topic: string): boolean {
    return goesOut.has(topic) || this.suspects.some;
  }

  private wake(topic: string): void {
    for (const wake of this.wakers.get(topic) ?? []) wake();
  }
}

/** Positions of a range that the table holds. */
const heldOf = ({ sql }: Tick, first: number, last: number): readonly number[] =>
  sql.all<{ seq: number }>('SELECT seq FROM log WHERE seq BETWEEN ? AND ?', first, last).map(({ seq }) => seq);

const recordOf = (row: LogRow): LoggedRecord => ({
  seq: row.seq,
  topic: row.topic,
  partition: 0,
  offset: String(row.seq),
  appendedAt: row.appended_at,
  key: row.key,
  headers: headersOf(row.headers, row),
  raw: row.body === null ? null : bytesOf(row.body),
});
