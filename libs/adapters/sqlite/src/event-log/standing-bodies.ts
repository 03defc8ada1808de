import { CallRecorded, StepRecorded, type Event } from '@conclave/contracts';
import { encodeEventNow, type EncodedRecord } from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import { bytesOf } from '../database/sql.js';
import { bodyFrom, type StoredBody } from './packed-body.js';
import { headersOf } from './stored-headers.js';
import { StandingTexts } from './standing-texts.js';

/** The part that a record lacks, the body of another record or a text, and the byte position where it belongs. */
type Part = readonly [position: number, topic: string, eventId: string] | readonly [position: number, sha256: string];

interface Prompted {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

interface BodyRow extends StoredBody {
  readonly key: string | null;
  readonly event_id: string;
  readonly headers: string;
  readonly part: string | null;
}

/** Stands in for the part that was cut out. A record that contains this mark itself is stored whole. */
const hole = '\u0000body\u0000';
const holeBytes = Buffer.from(JSON.stringify(hole));

/**
 * Bodies of events that this process appended. The record of a step contains the step's input; if the input itself is in this log,
 * the step is stored without it, and read as if it were whole. The same applies to the record of a call whose system prompt is stored
 * elsewhere.
 */
export class StandingBodies {
  private readonly places = new WeakMap<object, readonly [topic: string, eventId: string]>();

  private readonly texts: StandingTexts;

  constructor(
    private readonly database: Store,
    now: () => number,
  ) {
    this.texts = new StandingTexts(database, now);
  }

  /** The event is in the log, with exactly this body. */
  stands({ topic, id, data }: Event): void {
    if (typeof data === 'object' && data !== null) this.places.set(data, [topic, id]);
  }

  /** Forgets which texts are stored, after some were deleted. */
  forget(): void {
    this.texts.forget();
  }

  /**
   * The record of a step without its input, or of a call without its system prompt; null for other events, and if neither is stored
   * anywhere else.
   */
  part(tick: Tick, event: Event): (EncodedRecord & { readonly part: string }) | null {
    if (event.type === StepRecorded.type) return this.withoutInput(event);
    return event.type === CallRecorded.type ? this.withoutPrompt(tick, event) : null;
  }

  private withoutInput(event: Event): (EncodedRecord & { readonly part: string }) | null {
    const step = event.data as StepRecorded['data'];
    // A damaged record is stored unchanged.
    const data = (step as Partial<typeof step> | null)?.input?.data;
    const place = typeof data === 'object' && data !== null ? this.places.get(data) : undefined;
    return place ? cut({ ...event, data: { ...step, input: { ...step.input, data: hole } } }, place) : null;
  }

  private withoutPrompt(tick: Tick, event: Event): (EncodedRecord & { readonly part: string }) | null {
    const call = event.data as Partial<CallRecorded['data']> | null;
    const request = call?.request as Partial<Prompted> | null | undefined;
    const [first, ...others] = Array.isArray(request?.messages) ? (request.messages as Prompted['messages']) : [];
    if (first?.role !== 'system' || typeof first.content !== 'string') return null;
    const sha256 = this.texts.standing(tick, first.content);
    if (sha256 === null) return null;
    const messages = [{ ...first, content: hole }, ...others];
    return cut({ ...event, data: { ...call, request: { ...request, messages } } }, [sha256]);
  }

  /** The whole body; without the missing part if that has expired, so that the record cannot be decoded. */
  whole(raw: Buffer, stored: string): Buffer {
    const [position, ...place] = JSON.parse(stored) as Part;
    const body = place.length === 1 ? this.texts.of(place[0]) : this.of(...place);
    return body ? Buffer.concat([raw.subarray(0, position), body, raw.subarray(position)]) : raw;
  }

  /** The whole body of an event; null if it is unknown or pruned. */
  of(topic: string, eventId: string): Buffer | null {
    return this.database.read((sql) => {
      const row = sql.get<BodyRow>(
        'SELECT key, event_id, headers, body, packed, part FROM log WHERE topic = ? AND event_id = ?',
        topic,
        eventId,
      );
      if (!row) return null;
      const reference = headersOf(row.headers, row)['ce_dataref'];
      const raw = bodyFrom(row);
      if (raw === null) return null;
      if (reference === undefined) return row.part === null ? raw : this.whole(raw, row.part);
      const blob = sql.get<{ body: unknown }>('SELECT body FROM blob WHERE sha256 = ?', reference.slice('sha256:'.length));
      return blob ? bytesOf(blob.body) : null;
    });
  }
}

/**
 * The record of an event with a placeholder for one part. Null if that part occurs more than once, or if the record would be large even
 * without it.
 */
function cut(parted: Event, place: readonly string[]): (EncodedRecord & { readonly part: string }) | null {
  let isSmall = true;
  const encoded = encodeEventNow(parted, () => {
    isSmall = false;
    return { sha256: '', bytes: 0 };
  });
  const { raw } = encoded;
  const position = raw.indexOf(holeBytes);
  if (!isSmall || position < 0 || raw.includes(holeBytes, position + 1)) return null;
  return {
    ...encoded,
    raw: Buffer.concat([raw.subarray(0, position), raw.subarray(position + holeBytes.length)]),
    part: JSON.stringify([position, ...place]),
  };
}
