import type { Statements, Store } from '../database/database.js';
import type { LogTable } from './log-table.js';
import type { LoggedRecord } from './newest-records.js';

interface Handed<M> {
  readonly record: LoggedRecord;
  readonly member: M;
}

/** Records read ahead per topic; what is not read stays on disk. */
const pageSize = 32;

/**
 * Where a group stands in one topic. On disk: the cursor (everything up to it is finished) and what is finished beyond it.
 * In memory: what is handed out and not finished, and where reading goes on.
 */
export class TopicPosition<M> {
  /** Highest position handed out or skipped. */
  private handedUpTo: number;
  /** Highest position read from the table. */
  private readUpTo: number;
  /** Nothing behind `readUpTo` when it was last looked for. */
  private atEnd = false;
  /** Finished before this start, beyond the cursor. */
  private readonly skip: Set<number>;
  private readonly ahead: LoggedRecord[] = [];
  /** Given back by members that left, oldest first. */
  private returned: LoggedRecord[] = [];
  private readonly handed = new Map<number, Handed<M>>();
  /** Finished beyond the cursor; what is not among `stored` is written before the next commit. */
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

  /** A group that is new to the topic starts at its beginning; from then on its unfinished records are kept for it. */
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

  /** There may be more behind what was read. */
  wake(): void {
    this.atEnd = false;
  }

  /** The next record to hand out, without handing it out. Throws Failure STORE_UNAVAILABLE. */
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

  /** What the member held is to be handed out again. */
  takeBack(member: M): void {
    for (const [seq, handed] of this.handed) {
      if (handed.member !== member) continue;
      this.handed.delete(seq);
      this.returned.push(handed.record);
    }
    this.returned.sort((a, b) => a.seq - b.seq);
  }

  /** Notes that a record is finished; it is written down with the next commit. The cursor never passes an unfinished one. */
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
