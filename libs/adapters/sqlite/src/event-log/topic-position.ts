import type { Statements, Store } from '../database/database.js';
import type { LogTable } from './log-table.js';
import type { LoggedRecord } from './newest-records.js';

interface Handed<M> {
  readonly record: LoggedRecord;
  readonly member: M;
}

/** Records read ahead per topic. */
const pageSize = 32;

/**
 * The position of a group in one topic. On disk: the cursor (all records up to it are finished) and the finished records beyond it.
 * In memory: records handed out and not finished, and where to read next.
 */
export class TopicPosition<M> {
  /** Highest position handed out or skipped. */
  private handedUpTo: number;
  /** Highest position read from the table. */
  private readUpTo: number;
  /** The last read found nothing after `readUpTo`. */
  private atEnd = false;
  /** Finished beyond the cursor before this start. */
  private readonly skip: Set<number>;
  private readonly ahead: LoggedRecord[] = [];
  /** Returned by members that left, oldest first. */
  private returned: LoggedRecord[] = [];
  private readonly handed = new Map<number, Handed<M>>();
  /** Finished beyond the cursor; those missing in `stored` are written before the next commit. */
  private readonly beyond: Set<number>;
  private readonly stored: Set<number>;

  private constructor(
    private readonly store: Store,
    private readonly table: LogTable,
    private readonly group: string,
    readonly topic: string,
    private cursor: number,
    finished: readonly number[],
  ) {
    this.handedUpTo = cursor;
    this.readUpTo = cursor;
    this.skip = new Set(finished);
    this.beyond = new Set(finished);
    this.stored = new Set(finished);
  }

  /** A new group starts at the beginning of the topic; from then on its unfinished records are not pruned. */
  static load<M>(store: Store, table: LogTable, group: string, topic: string): Promise<TopicPosition<M>> {
    return store.write(({ sql }) => {
      sql.run('INSERT INTO log_cursor (group_name, topic, position) VALUES (?, ?, 0) ON CONFLICT DO NOTHING', group, topic);
      const { position } = sql.get<{ position: number }>(
        'SELECT position FROM log_cursor WHERE group_name = ? AND topic = ?',
        group,
        topic,
      )!;
      const finished = sql.all<{ seq: number }>(
        'SELECT seq FROM log_finished WHERE group_name = ? AND topic = ? AND seq > ?',
        group,
        topic,
        position,
      );
      return new TopicPosition<M>(
        store,
        table,
        group,
        topic,
        position,
        finished.map(({ seq }) => seq),
      );
    });
  }

  /** New records may have been appended. */
  wake(): void {
    this.atEnd = false;
  }

  /** Returns the next record without handing it out. Throws Failure STORE_UNAVAILABLE. */
  peek(): LoggedRecord | undefined {
    if (this.returned.length > 0) return this.returned[0];
    while (this.ahead.length === 0 && !this.atEnd) {
      const page = this.table.page(this.topic, this.readUpTo, pageSize);
      this.atEnd = page.length < pageSize;
      this.readUpTo = page.at(-1)?.seq ?? this.readUpTo;
      this.ahead.push(...page.filter(({ seq }) => !this.skip.delete(seq)));
      if (this.ahead.length === 0) this.handedUpTo = this.readUpTo;
    }
    return this.ahead[0];
  }

  hand(record: LoggedRecord, member: M): void {
    if (this.returned[0] === record) this.returned.shift();
    else this.ahead.shift();
    this.handedUpTo = Math.max(this.handedUpTo, record.seq);
    this.handed.set(record.seq, { record, member });
  }

  /** Queues the unfinished records of a member to be handed out again. */
  takeBack(member: M): void {
    for (const [seq, handed] of this.handed) {
      if (handed.member !== member) continue;
      this.handed.delete(seq);
      this.returned.push(handed.record);
    }
    this.returned.sort((a, b) => a.seq - b.seq);
  }

  /** Marks a record finished; stored with the next commit. The cursor never passes an unfinished record. */
  finish(seq: number): void {
    this.handed.delete(seq);
    this.returned = this.returned.filter((record) => record.seq !== seq);
    this.beyond.add(seq);
    this.store.beforeCommit(this, (sql) => this.write(sql));
  }

  private write(sql: Statements): void {
    const { group, topic, beyond, stored } = this;
    const cursor = this.contiguous();
    if (cursor > this.cursor)
      sql.run('UPDATE log_cursor SET position = max(position, ?) WHERE group_name = ? AND topic = ?', cursor, group, topic);
    for (const seq of beyond) {
      if (seq <= cursor) beyond.delete(seq);
      else if (!stored.has(seq)) {
        sql.run('INSERT INTO log_finished (group_name, topic, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', group, topic, seq);
        stored.add(seq);
      }
    }
    const passed = [...stored].filter((seq) => seq <= cursor);
    if (passed.length > 0) sql.run('DELETE FROM log_finished WHERE group_name = ? AND topic = ? AND seq <= ?', group, topic, cursor);
    for (const seq of passed) stored.delete(seq);
    this.cursor = Math.max(this.cursor, cursor);
  }

  /** Highest position up to which everything is finished. */
  private contiguous(): number {
    let lowest = Infinity;
    for (const seq of this.handed.keys()) if (seq < lowest) lowest = seq;
    for (const { seq } of this.returned) if (seq < lowest) lowest = seq;
    return lowest === Infinity ? this.handedUpTo : lowest - 1;
  }
}
