import { deadTopic, identityTopic, type AnyEvent } from '@conclave/contracts';
import type { HistoryEntry } from '@conclave/test-support';
import type { Bounds, CheckName, Evidence, Finding, LoggedRecord } from '../evidence/evidence.js';
import { driveRun, type DrivenRun } from './driven-run.js';

type EventData = { [E in AnyEvent as E['type']]: E['data'] };

/** An event of the log with its record. The log may contain one event more than once. */
export interface LoggedEvent<D> {
  readonly id: string;
  readonly runId: string;
  readonly data: D;
  readonly record: LoggedRecord;
}

/** Topics whose records were not sent as separate events: copies of other records, and the mark of the store. */
const bookkeeping: ReadonlySet<string> = new Set([deadTopic, identityTopic]);

export const recordName = ({ topic, partition, offset }: Pick<LoggedRecord, 'topic' | 'partition' | 'offset'>): string =>
  `${topic}/${partition}/${offset}`;

const letterName = ({ headers }: LoggedRecord): string =>
  `${headers['dead-group']}:${headers['dead-topic']}/${headers['dead-partition']}/${headers['dead-offset']}`;

/** Whether this line ends a delivery of an event, with its outputs published. */
export const isHandled = ({ phase }: HistoryEntry): boolean => phase === 'after-publish' || phase === 'after-commit';

/** Evidence with the indexes that several checks use. Makes no requests. */
export class Case {
  /** Records of every topic except `dead` and the mark of the store. */
  readonly records: readonly LoggedRecord[];
  private readonly byType = new Map<string, LoggedEvent<unknown>[]>();
  /** Dead letters by `<group>:<topic>/<partition>/<offset>` of the record they replace, with their own place. */
  readonly letters: ReadonlyMap<string, string>;
  private readonly handled = new Set<string>();
  private readonly delivering = new Set<string>();
  private driven: ReadonlyMap<string, DrivenRun> | null = null;

  constructor(
    readonly evidence: Evidence,
    readonly bounds: Bounds,
  ) {
    this.records = evidence.records.filter(({ topic }) => !bookkeeping.has(topic));
    for (const record of this.records) {
      if (!record.event) continue;
      const { id, type, runId, data } = record.event;
      push(this.byType, type, { id, runId, data, record });
    }
    const dead = evidence.records.filter(({ topic }) => topic === deadTopic);
    this.letters = new Map(dead.map((record) => [letterName(record), recordName(record)]));
    for (const line of evidence.history) {
      if (!isHandled(line)) continue;
      const { actor, op, id } = line;
      this.handled.add(`${actor} ${op} ${id}`);
      this.delivering.add(actor);
    }
  }

  /** Every record of this type, in the order of the evidence, including repeats of an event. */
  events<T extends keyof EventData>(type: T): readonly LoggedEvent<EventData[T]>[] {
    return (this.byType.get(type) ?? []) as unknown as readonly LoggedEvent<EventData[T]>[];
  }
  /** Whether a group has dead-lettered this record. */
  isDead(group: string, record: LoggedRecord): boolean {
    return this.letters.has(`${group}:${recordName(record)}`);
  }
  /**
   * Whether a service reports that it has completely handled this event, with its outputs published. Null if its history has no delivery at
   * all.
   */
  wasHandled(service: string, type: string, id: string): boolean | null {
    return this.delivering.has(service) ? this.handled.has(`${service} ${type} ${id}`) : null;
  }
  /** Recorded steps of every run, driven through today's engine. */
  runs(): ReadonlyMap<string, DrivenRun> {
    if (this.driven) return this.driven;
    const steps = new Map<string, EventData['StepRecorded'][]>();
    for (const { runId, data } of this.events('StepRecorded')) push(steps, runId, data);
    return (this.driven = new Map([...steps].map(([runId, of]) => [runId, driveRun(runId, of)])));
  }
  /** Whether the end of a run was awaited for as long as it may take after its acceptance or after the last fault that a scenario caused. */
  wasWaitedFor(acceptedAt: number): boolean {
    const from = Math.max(Number.isFinite(acceptedAt) ? acceptedAt : 0, ...this.lines('fault').map(({ at }) => at));
    return this.evidence.collectedAt - from >= this.bounds.terminalMs;
  }
  lines(op: string): readonly HistoryEntry[] {
    return this.evidence.history.filter((line) => line.op === op);
  }
}

export function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Creates findings of one check. */
export const findingOf =
  (check: CheckName) =>
  (id: string, sentence: string): Finding => ({ check, id, sentence });

/** A field of the free part of a history line. */
export const fieldOf = (line: HistoryEntry, name: string): unknown =>
  typeof line.data === 'object' && line.data !== null ? (line.data as Record<string, unknown>)[name] : undefined;
