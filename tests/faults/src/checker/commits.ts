import { serviceOfGroup } from '@conclave/platform';
import type { GroupPosition, Finding, LoggedRecord } from '../evidence/evidence.js';
import { fieldOf, findingOf, isHandled, push, recordName, type Case } from './case.js';
import { effectsOn } from './effects.js';

const finding = findingOf('commit-after-effect');
type Partitions = ReadonlyMap<string, readonly LoggedRecord[]>;

/**
 * Check 4: every record before a committed position has had its effect, or is a dead letter of that group. `effects.ts` defines the
 * effect. If the history contains each commit (lines `offset-commit`), no commit may have passed a record before the end of its
 * delivery either: if the record was handled later, that was luck.
 */
export function checkCommits(of: Case): readonly Finding[] {
  const partitions = new Map<string, LoggedRecord[]>();
  for (const record of of.records) push(partitions, partitionOf(record), record);
  for (const records of partitions.values()) records.sort((a, b) => (BigInt(a.offset) < BigInt(b.offset) ? -1 : 1));
  const missingFrom = effectsOn(of);
  const lost = of.evidence.committed.flatMap((position) =>
    (partitions.get(partitionOf(position)) ?? [])
      .filter((record) => BigInt(record.offset) < BigInt(position.offset) && !of.isDead(position.group, record))
      .flatMap((record) => passedOver(position, record, missingFrom)),
  );
  const known = new Set(lost.map(({ id }) => id));
  return [...lost, ...committedEarly(of, partitions).filter(({ id }) => !known.has(id))];
}

const partitionOf = ({ topic, partition }: Pick<GroupPosition, 'topic' | 'partition'>): string => `${topic}/${partition}`;

function passedOver(position: GroupPosition, record: LoggedRecord, missingFrom: ReturnType<typeof effectsOn>): readonly Finding[] {
  const { group } = position;
  const place = `${group} has committed ${recordName(position)} and with it ${recordName(record)}`;
  if (!record.event) return [finding(recordName(record), `${place}, which cannot be decoded and is not a dead letter of the group.`)];
  const missing = missingFrom(group, serviceOfGroup(group), record.event);
  return missing === null ? [] : [finding(record.event.id, `${place}, but ${missing}.`)];
}

/** Records that a commit had passed although no earlier line of the history says that they were done, or dead-lettered. */
function committedEarly(of: Case, partitions: Partitions): readonly Finding[] {
  const findings: Finding[] = [];
  const handled = new Set<string>();
  const buried = new Set<string>();
  const passed = new Map<string, number>();
  for (const line of of.evidence.history) {
    if (isHandled(line)) handled.add(`${line.actor} ${line.op} ${line.id}`);
    else if (line.op === 'publish') for (const id of deadLettersOf(line.data)) buried.add(id);
    if (line.op !== 'offset-commit') continue;
    const group = line.id;
    const position = { group, topic: String(fieldOf(line, 'topic')), partition: Number(fieldOf(line, 'partition')) };
    const records = partitions.get(partitionOf(position)) ?? [];
    const key = `${group} ${partitionOf(position)}`;
    let next = passed.get(key) ?? 0;
    for (; next < records.length && BigInt(records[next]!.offset) < BigInt(String(fieldOf(line, 'offset'))); next += 1) {
      const { event } = records[next]!;
      const name = recordName(records[next]!);
      if (buried.has(`${group}:${name}`) || (event && handled.has(`${serviceOfGroup(group)} ${event.type} ${event.id}`))) continue;
      findings.push(finding(event?.id ?? name, `${group} committed ${name} before it was done.`));
    }
    passed.set(key, next);
  }
  return findings;
}

function deadLettersOf(data: unknown): readonly string[] {
  const { by, events } = (data ?? {}) as { by?: string; events?: readonly { readonly id: string }[] };
  return by === 'dead-letter' ? (events ?? []).map(({ id }) => id) : [];
}
