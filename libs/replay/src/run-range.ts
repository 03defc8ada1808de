import { deadTopic, isKeyedByRun } from '@conclave/contracts';
import type { ReadRange, StoredRecord } from '@conclave/ports';

/** Orders topics so that a `RunRange` limits as much as possible: those that are keyed by run come first. */
export const byRunFirst = (topics: readonly string[]): readonly string[] => [
  ...topics.filter(isKeyedByRun),
  ...topics.filter((topic) => !isKeyedByRun(topic)),
];

/** Milliseconds by which the times of a run's records may contradict their order: each broker has its own clock. */
const slackMs = 60_000;

/**
 * What to read of each topic for these runs. Topics that are keyed by run are read by key; read them first, because the times of their
 * records bound what is read of the others.
 */
export class RunRange {
  private readonly keys: readonly string[];
  private first = Infinity;
  private last = -Infinity;

  constructor(runIds: Iterable<string>) {
    this.keys = [...runIds];
  }

  of(topic: string): ReadRange {
    if (isKeyedByRun(topic)) return { keys: this.keys };
    if (this.first > this.last) return {};
    // A record may be dead-lettered long after its run has ended.
    return { since: this.first - slackMs, ...(topic === deadTopic ? {} : { until: this.last + slackMs }) };
  }

  /** Takes a record of one of the runs. */
  saw({ appendedAt }: Pick<StoredRecord, 'appendedAt'>): void {
    this.first = Math.min(this.first, appendedAt);
    this.last = Math.max(this.last, appendedAt);
  }
}
