import type { Event } from '@conclave/contracts';
import { specOf } from '@conclave/contracts';
import { isErased, type RawRecord } from '@conclave/ports';
import type { Surroundings } from '../world/surroundings.js';

/** The numbers are those of docs/guarantees.md; checks without a number test further promises of the architecture. */
export const checkNames = [
  '1 terminal',
  '2 appends',
  '3 outcomes',
  '4 durable',
  '5 stream',
  '6 calls',
  '7 replay',
  '8 nothing left',
  'dead letters',
  'retries',
  'cancel',
  'idempotency',
  'caches',
  'effects',
  'usage',
  'documents',
  'child runs',
  'ratings',
  'deletions',
  'child commands',
  'tenants',
] as const;
export type CheckName = (typeof checkNames)[number];

/** The findings of a check, each with an id and a sentence about it. */
export interface Violation {
  readonly check: CheckName;
  readonly id: string;
  readonly sentence: string;
}
export type Check = (evidence: Evidence) => readonly Violation[];

/** A world after its storm, read once for all checks. */
export interface Evidence {
  readonly world: Surroundings;
  /** Events of the log by topic, each id once, in order of arrival; large bodies are read from the blobs. */
  readonly events: ReadonlyMap<string, readonly Event[]>;
}

export async function evidenceOf(world: Surroundings): Promise<Evidence> {
  const topics = [
    'plan.requested',
    'plan.created',
    'tasks.dispatched.expert',
    'tasks.dispatched.evidence',
    'tasks.dispatched.judge',
    'results.ready',
    'run.completed',
    'run.timers',
    'audit',
    'dead',
  ];
  const events = new Map<string, Event[]>();
  for (const topic of topics) {
    const read: Event[] = [];
    const known = new Map<string, string>();
    for (const record of world.broker.records(topic)) {
      const text = record.raw?.toString() ?? '';
      const id = record.headers.ce_id;
      // A repeated event is identical; a different one under the same id is itself a finding.
      if (id !== undefined && known.get(id) === text) continue;
      if (id !== undefined) known.set(id, text);
      const event = await eventOf(world, record);
      if (event) read.push(event);
    }
    events.set(topic, read);
  }
  return { world, events };
}

async function eventOf(world: Surroundings, record: RawRecord): Promise<Event | null> {
  const { headers, raw, topic } = record;
  if (isErased(record)) return null;
  const { ce_id: id, ce_type: type, ce_runid: runId, ce_time: time } = headers;
  if (!id || !type || !runId || !time || !raw || !specOf(type)) return null;
  const body = headers.ce_dataref ? await world.blobs.get(JSON.parse(raw.toString()) as { sha256: string; bytes: number }) : raw;
  return { id, type, runId, topic, key: runId, source: 'transport', time: Date.parse(time), data: JSON.parse(body.toString()) as unknown };
}

/** Elements of `left` that are not in `right`. */
export const minus = (left: Iterable<string>, right: ReadonlySet<string>): string[] => [...new Set(left)].filter((id) => !right.has(id));
