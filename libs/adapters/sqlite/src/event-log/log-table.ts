import type { Event } from '@conclave/contracts';
import { encodeEventNow, type EncodedRecord, type RawRecord } from '@conclave/ports';
import { putBlob } from '../blobs.js';
import type { Store, Tick } from '../database/database.js';
import { bytesOf } from '../database/sql.js';

interface LogRow {
  readonly seq: number;
  readonly topic: string;
  readonly key: string | null;
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
}

/** A record with its position. */
export type LoggedRecord = RawRecord & { readonly seq: number };

/** A step is published right after its commit, or never by this process: more names than this are old ones. */
const mostUnpublished = 10_000;

const nameOf = ({ topic, id }: Event): string => `${topic} ${id}`;

/** The one table all topics live in, ordered by its sequence. Those who wait for a topic are woken after the commit. */
export class LogTable {
  private readonly wakers = new Map<string, Set<() => void>>();
  /** Names of events that a commit has appended and that were not published since. */
  private readonly unpublished = new Set<string>();

  constructor(
    private readonly database: Store,
    private readonly now: () => number,
  ) {}

  /** Appends events as part of a step; who publishes them after its commit has nothing left to do. */
  appendOutputs(tick: Tick, events: readonly Event[]): void {
    this.appendEvents(tick, events);
    tick.afterCommit(() => {
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
    for (const event of events) {
      const encoded: EncodedRecord = encodeEventNow(event, (body) => putBlob(tick, body, this.now()));
      this.append(tick, { ...encoded, id: event.id });
    }
  }

  append(tick: Tick, record: RecordToAppend): void {
    const added = tick.sql.run(
      'INSERT INTO log (topic, key, event_id, headers, body, appended_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      record.topic,
      record.key,
      record.id,
      JSON.stringify(record.headers),
      record.raw,
      this.now(),
    );
    if (added > 0) tick.afterCommit(() => this.wake(record.topic));
  }

  /** Records of the topic behind a position, oldest first. */
  page(topic: string, after: number, limit: number): readonly LoggedRecord[] {
    const rows = this.database.read((sql) =>
      sql.all<LogRow>('SELECT * FROM log WHERE topic = ? AND seq > ? ORDER BY seq LIMIT ?', topic, after, limit),
    );
    return rows.map((row) => ({
      seq: row.seq,
      topic: row.topic,
      partition: 0,
      offset: String(row.seq),
      appendedAt: row.appended_at,
      key: row.key,
      headers: JSON.parse(row.headers) as Record<string, string>,
      raw: row.body === null ? null : bytesOf(row.body),
    }));
  }

  /** Highest position of the topic, 0 when it is empty. */
  end(topic: string): number {
    return this.database.read((sql) => sql.get<{ seq: number | null }>('SELECT MAX(seq) AS seq FROM log WHERE topic = ?', topic))?.seq ?? 0;
  }

  /** Calls back after each commit that added to the topic. */
  watch(topic: string, wake: () => void): () => void {
    const wakers = this.wakers.get(topic) ?? new Set();
    this.wakers.set(topic, wakers.add(wake));
    return () => wakers.delete(wake);
  }

  private wake(topic: string): void {
    for (const wake of this.wakers.get(topic) ?? []) wake();
  }
}
