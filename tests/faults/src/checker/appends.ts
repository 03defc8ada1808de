import type { HistoryEntry } from '@conclave/test-support';
import type { Finding } from '../evidence/evidence.js';
import { fieldOf, findingOf, recordName, type Case } from './case.js';

const finding = findingOf('acknowledged-appends');

/**
 * Check 2: everything that the log has acknowledged is readable, and everything readable was sent. Lines `publish` of a service contain the
 * events in `data.events`. A scenario that appends records to the log itself writes lines of the actor `injector`: `publish ok` with the id
 * of the event, or with `topic/partition/offset` of a record that cannot be decoded.
 */
export function checkAppends(of: Case): readonly Finding[] {
  const lines = of.lines('publish');
  if (of.records.length > 0 && !lines.some(({ actor }) => actor !== 'injector'))
    return [finding('history', 'It contains no publish by any service, so it is unknown what was sent.')];
  const acknowledged = new Set<string>();
  const sent = new Set<string>();
  for (const line of lines) {
    for (const id of idsOf(line)) {
      if (line.phase === 'invoke' || line.actor === 'injector') sent.add(id);
      if (line.phase === 'ok') acknowledged.add(id);
    }
  }
  const readable = readableOn(of, sent);
  return [
    ...[...acknowledged].filter((id) => !readable.has(id)).map((id) => finding(id, 'It was acknowledged and cannot be read.')),
    ...[...readable].filter(([id]) => !sent.has(id)).map(([id, place]) => finding(id, `It can be read at ${place} and nobody sent it.`)),
  ];
}

/**
 * Ids of everything on the log, with the place of each. A record without an id, or one that was injected by its place, is identified by its
 * place.
 */
function readableOn(of: Case, sent: ReadonlySet<string>): ReadonlyMap<string, string> {
  const readable = new Map<string, string>();
  for (const record of of.records) {
    const place = recordName(record);
    readable.set(sent.has(place) ? place : (record.event?.id ?? record.headers['ce_id'] ?? place), place);
  }
  for (const [name, place] of of.letters) readable.set(name, place);
  return readable;
}

function idsOf(line: HistoryEntry): readonly string[] {
  const events = fieldOf(line, 'events');
  return Array.isArray(events) ? events.map((event: { id: string }) => event.id) : [line.id];
}
