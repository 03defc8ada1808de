import type { RawRecord } from '@conclave/ports';

/** A record with its position. */
export type LoggedRecord = RawRecord & { readonly seq: number };

/** Maximum number of records kept of a topic; a group that is further behind reads the table. */
const mostKept = 256;

/** The newest records of a topic, as they were appended. */
export class NewestRecords {
  private readonly records: LoggedRecord[] = [];

  constructor(
    /** All records after this position are kept. */
    private from: number,
  ) {}

  add(record: LoggedRecord): void {
    this.records.push(record);
    while (this.records.length > mostKept) this.from = this.records.shift()!.seq;
  }

  /** Puts a record in the place of the one at its position. */
  replace(record: LoggedRecord): void {
    const at = this.records.findIndex(({ seq }) => seq === record.seq);
    if (at >= 0) this.records[at] = record;
  }

  /** Records after `after`, up to `upTo`; null where not all of them are kept. */
  behind(after: number, upTo: number, limit: number): readonly LoggedRecord[] | null {
    if (after < this.from) return null;
    let first = this.records.length;
    while (first > 0 && this.records[first - 1]!.seq > after) first -= 1;
    return this.records.slice(first, first + limit).filter(({ seq }) => seq <= upTo);
  }
}
