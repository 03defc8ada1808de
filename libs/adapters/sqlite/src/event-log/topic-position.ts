import type { Store, Tick } from '../database/database.js';
import type { LoggedRecord, LogTable } from './log-table.js';

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
  /** Rows beyond the cursor may exist; false spares a statement per record in the usual case that all finish in order. */
  private mayHaveFinishedBeyond: boolean;
  /** Being finished by a write of the present tick. */
  private readonly finishing = new Set<number>();

  private constructor(
    private readonly table: LogTable,
    private readonly group: string,
    readonly topic: string,
    cursor: number,
    finished: readonly number[],
  ) {
    this.handedUpTo = cursor;
    this.readUpTo = cursor;
    this.skip = new Set(finished);
    this.mayHaveFinishedBeyond = finished.length > 0;
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

  /** Writes down that a record is finished, inside a write that is under way. The cursor never passes an unfinished one. */
  finish(tick: Tick, seq: number): void {
    const { group, topic } = this;
    const { sql } = tick;
    this.finishing.add(seq);
    try {
      const cursor = this.contiguous();
      if (seq > cursor) {
        this.mayHaveFinishedBeyond = true;
        sql.run('INSERT INTO log_finished (group_name, topic, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', group, topic, seq);
      } else {
        sql.run('UPDATE log_cursor SET position = max(position, ?) WHERE group_name = ? AND topic = ?', cursor, group, topic);
        if (this.mayHaveFinishedBeyond)
          sql.run('DELETE FROM log_finished WHERE group_name = ? AND topic = ? AND seq <= ?', group, topic, cursor);
      }
      tick.afterWrite(() => {
        if (cursor >= this.handedUpTo) this.mayHaveFinishedBeyond = false;
      });
    } catch (error) {
      this.unfinish(seq);
      throw error;
    }
    tick.afterWrite(() => {
      this.finishing.delete(seq);
      this.handed.delete(seq);
      this.returned = this.returned.filter((record) => record.seq !== seq);
    });
  }

  /** The tick that should have finished it was undone. */
  unfinish(seq: number): void {
    this.finishing.delete(seq);
  }

  /** Highest position up to which everything is finished. */
  private contiguous(): number {
    let lowest = Infinity;
    for (const seq of this.handed.keys()) if (seq < lowest && !this.finishing.has(seq)) lowest = seq;
    for (const { seq } of this.returned) if (seq < lowest && !this.finishing.has(seq)) lowest = seq;
    return lowest === Infinity ? this.handedUpTo : lowest - 1;
  }
}
