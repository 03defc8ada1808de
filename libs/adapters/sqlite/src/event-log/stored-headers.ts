import type { Event } from '@conclave/contracts';
import type { Headers } from '@conclave/ports';

/** The other columns of the row. */
interface Row {
  readonly key: string | null;
  readonly event_id: string;
}

/** Event headers that no other column holds: type, source, milliseconds since 1970, then optional traceparent and data reference. */
type Compact = readonly [type: string, source: string, time: number, traceparent?: string | null, reference?: string];

/** The run of an event: its key, or the part of it before the task. */
const runOf = (key: string): string => key.split('/', 1)[0]!;

const whole = ([type, source, time, traceparent, reference]: Compact, { key, event_id }: Row): Headers => ({
  ce_specversion: '1.0',
  ce_id: event_id,
  ce_type: type,
  ce_source: source,
  ce_time: new Date(time).toISOString(),
  ce_partitionkey: key!,
  ce_runid: runOf(key!),
  'content-type': 'application/json',
  ...(traceparent ? { traceparent } : {}),
  ...(reference ? { ce_dataref: reference } : {}),
});

const isSame = (a: Headers, b: Headers): boolean => {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
};

/**
 * The headers of a record as JSON for its row. Two thirds of an event's headers are in other columns or are the same in every event, so
 * only the rest is stored, as a list. Other headers are stored whole, as an object.
 */
export function storedHeaders(headers: Headers, row: Row): string {
  const time = Date.parse(headers['ce_time'] ?? '');
  if (row.key !== null && !Number.isNaN(time)) {
    const { ce_type = '', ce_source = '', traceparent, ce_dataref } = headers;
    const more = ce_dataref ? [traceparent ?? null, ce_dataref] : traceparent ? [traceparent] : [];
    const compact = [ce_type, ce_source, time, ...more] as unknown as Compact;
    if (isSame(headers, whole(compact, row))) return JSON.stringify(compact);
  }
  return JSON.stringify(headers);
}

/** The same for the record of an event, directly from the event: its headers contain nothing else. */
export function storedHeadersOf(event: Event, headers: Headers): string {
  const { id, key, type, source, time, runId, traceparent } = event;
  const reference = headers['ce_dataref'];
  if (runOf(key) !== runId || !Number.isSafeInteger(time) || reference !== undefined) return storedHeaders(headers, { key, event_id: id });
  return JSON.stringify(traceparent ? [type, source, time, traceparent] : [type, source, time]);
}

/** Restores the headers of a record from its row. */
export function headersOf(stored: string, row: Row): Headers {
  const headers = JSON.parse(stored) as Headers | Compact;
  return Array.isArray(headers) ? whole(headers as Compact, row) : (headers as Headers);
}
