/** A topic to create. Run-keyed topics share one partition count and partitioner. */
export interface TopicSpec {
  readonly name: string;
  readonly key: 'run' | 'task' | 'none';
  readonly retentionMs: number;
  readonly compacted: boolean;
  readonly doc: string;
}

const DAY = 24 * 60 * 60 * 1000;

export const defaultPartitions = 24;
/** Journal, applied ids and tombstones live at least this long (checked at start). */
export const runRetentionMs = 7 * DAY;

export const deadTopic = 'dead';
/** Store identity beside the log: one compacted record that names the log's state store. */
export const identityTopic = 'store.identity';

const fixed: readonly TopicSpec[] = [
  { name: 'plan.requested', key: 'run', retentionMs: runRetentionMs, compacted: false, doc: 'accepted runs' },
  { name: 'plan.created', key: 'run', retentionMs: runRetentionMs, compacted: false, doc: 'plans' },
  { name: 'results.ready', key: 'run', retentionMs: runRetentionMs, compacted: false, doc: 'outcomes of tasks' },
  { name: 'gap.detected', key: 'run', retentionMs: runRetentionMs, compacted: false, doc: 'gaps that ask for another plan' },
  { name: 'run.commands', key: 'run', retentionMs: runRetentionMs, compacted: false, doc: 'commands to runs' },
  { name: 'run.timers', key: 'run', retentionMs: runRetentionMs, compacted: false, doc: 'timers that are due' },
  { name: 'run.completed', key: 'run', retentionMs: runRetentionMs, compacted: false, doc: 'terminal events' },
  { name: 'knowledge.ingest', key: 'run', retentionMs: runRetentionMs, compacted: false, doc: 'offered knowledge' },
  { name: 'audit', key: 'run', retentionMs: 30 * DAY, compacted: false, doc: 'steps and calls, for replay and audit' },
  {
    name: deadTopic,
    key: 'none',
    retentionMs: 30 * DAY,
    compacted: false,
    doc: 'raw bytes of records that could not be handled, and decisions about them',
  },
  { name: identityTopic, key: 'none', retentionMs: -1, compacted: true, doc: 'which state store belongs to this log' },
];

export const shippedClasses = ['expert', 'evidence', 'judge'] as const;

export const taskTopic = (taskClass: string): string => `tasks.dispatched.${taskClass}`;

/** Whether all records of a run are in one partition of this topic, chosen by the run id. */
export const isKeyedByRun = (topic: string): boolean => fixed.some(({ name, key }) => name === topic && key === 'run');

/** Every topic for these task classes. */
export const topicsFor = (classes: readonly string[] = shippedClasses): readonly TopicSpec[] => [
  ...fixed,
  ...classes.map((name): TopicSpec => ({
    name: taskTopic(name),
    key: 'task',
    retentionMs: runRetentionMs,
    compacted: false,
    doc: `tasks of the class ${name}`,
  })),
];
