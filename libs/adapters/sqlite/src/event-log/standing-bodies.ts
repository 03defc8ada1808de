import { StepRecorded, type Event } from '@conclave/contracts';
import { encodeEventNow, type EncodedRecord } from '@conclave/ports';
import type { Store } from '../database/database.js';
import { bytesOf } from '../database/sql.js';
import { headersOf } from './stored-headers.js';

/** The record whose body is missing in another record, and the byte position where it belongs. */
type Part = readonly [position: number, topic: string, eventId: string];

interface BodyRow {
  readonly key: string | null;
  readonly event_id: string;
  readonly headers: string;
  readonly body: unknown;
  readonly part: string | null;
}

/** Stands for the body until it is cut out. A text that holds it too is stored whole. */
const hole = '\u0000body\u0000';
const holeBytes = Buffer.from(JSON.stringify(hole));

/**
 * Bodies of events that this process appended. The record of a step contains the step's input; where the input itself stands in this log,
 * the step is stored without it, and read as if it were whole.
 */
export class StandingBodies {
  private readonly places = new WeakMap<object, readonly [topic: string, eventId: string]>();

  constructor(private readonly database: Store) {}

  /** The event is in the log, with exactly this body. */
  stands({ topic, id, data }: Event): void {
    if (typeof data === 'object' && data !== null) this.places.set(data, [topic, id]);
  }

  /** The record of a step without its input; null for other events, and for a step whose input does not stand in the log. */
  part(event: Event): (EncodedRecord & { readonly part: string }) | null {
    if (event.type !== StepRecorded.type) return null;
    const step = event.data as StepRecorded['data'];
    // A publisher of damaged records gets them stored as they are.
    const data = (step as Partial<typeof step> | null)?.input?.data;
    const place = typeof data === 'object' && data !== null ? this.places.get(data) : undefined;
    if (!place) return null;
    const parted = { ...event, data: { ...step, input: { ...step.input, data: hole } } };
    let isSmall = true;
    const encoded = encodeEventNow(parted, () => {
      isSmall = false;
      return { sha256: '', bytes: 0 };
    });
    const { raw } = encoded;
    const position = raw.indexOf(holeBytes);
    if (!isSmall || position < 0 || raw.includes(holeBytes, position + 1)) return null;
    const part: Part = [position, ...place];
    return {
      ...encoded,
      raw: Buffer.concat([raw.subarray(0, position), raw.subarray(position + holeBytes.length)]),
      part: JSON.stringify(part),
    };
  }

  /** The whole body; without what is missing if that has expired, so that the record cannot be decoded. */
  whole(raw: Buffer, stored: string): Buffer {
    const [position, topic, eventId] = JSON.parse(stored) as Part;
    const body = this.of(topic, eventId);
    return body ? Buffer.concat([raw.subarray(0, position), body, raw.subarray(position)]) : raw;
  }

  /** The whole body of an event; null where it is unknown or pruned. */
  of(topic: string, eventId: string): Buffer | null {
    return this.database.read((sql) => {
      const row = sql.get<BodyRow>('SELECT key, event_id, headers, body, part FROM log WHERE topic = ? AND event_id = ?', topic, eventId);
      if (!row) return null;
      const reference = headersOf(row.headers, row)['ce_dataref'];
      if (row.body === null) return null;
      if (reference === undefined) return row.part === null ? bytesOf(row.body) : this.whole(bytesOf(row.body), row.part);
      const blob = sql.get<{ body: unknown }>('SELECT body FROM blob WHERE sha256 = ?', reference.slice('sha256:'.length));
      return blob ? bytesOf(blob.body) : null;
    });
  }
}
