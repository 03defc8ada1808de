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
/** Days that every topic keeps its records, unless the configuration says otherwise. */
export const defaultRetentionDays = 14;
/** Bodies that are stored separately from their records, uploads among them, are kept at least this long. */
export const leastBodyMs = 30 * DAY;

export const deadTopic = 'dead';
/** Store identity beside the log: one compacted record that names the log's state store. */
export const identityTopic = 'store.identity';
/** Represents the topics of all task classes in the retention settings. */
export const taskTopics = 'tasks.dispatched';

/** The configured retention of topics. */
export interface Retention {
  /** Days, for every topic that is not named. */
  readonly retention_days: number;
  /** Topic -> days; `tasks.dispatched` represents all classes. */
  readonly retention: Readonly<Record<string, number>>;
}
const usual: Retention = { retention_days: defaultRetentionDays, retention: {} };

type Row = Pick<TopicSpec, 'name' | 'key' | 'doc'>;
const kept: readonly Row[] = [
  { name: 'plan.requested', key: 'run', doc: 'accepted runs' },
  { name: 'plan.created', key: 'run', doc: 'plans' },
  { name: 'results.ready', key: 'run', doc: 'outcomes of tasks' },
  { name: 'gap.detected', key: 'run', doc: 'gaps that ask for another plan' },
  { name: 'run.commands', key: 'run', doc: 'commands to runs' },
  { name: 'run.timers', key: 'run', doc: 'timers that are due' },
  { name: 'run.completed', key: 'run', doc: 'terminal events' },
  { name: 'knowledge.ingest', key: 'run', doc: 'proposed knowledge' },
  { name: 'audit', key: 'run', doc: 'steps and calls, for replay and audit' },
  { name: deadTopic, key: 'none', doc: 'raw bytes of records that could not be handled, and decisions about them' },
];
const identity: TopicSpec = {
  name: identityTopic,
  key: 'none',
  retentionMs: -1,
  compacted: true,
  doc: 'which state store belongs to this log',
};

/** Topics whose retention can be set. */
export const retainedTopics: readonly string[] = [...kept.map(({ name }) => name), taskTopics];

export const shippedClasses = ['expert', 'evidence', 'judge'] as const;

export const taskTopic = (taskClass: string): string => `${taskTopics}.${taskClass}`;

/** Whether all records of a run are in one partition of this topic, chosen by the run id. */
export const isKeyedByRun = (topic: string): boolean => kept.some(({ name, key }) => name === topic && key === 'run');

/** Milliseconds that a topic keeps its records. */
export const retentionOf = (topic: string, { retention_days, retention }: Retention = usual): number =>
  (retention[topic.startsWith(`${taskTopics}.`) ? taskTopics : topic] ?? retention_days) * DAY;

/** Every topic for these task classes. */
export const topicsFor = (classes: readonly string[] = shippedClasses, retention: Retention = usual): readonly TopicSpec[] => [
  ...[...kept, ...classes.map((name): Row => ({ name: taskTopic(name), key: 'task', doc: `tasks of the class ${name}` }))].map((row) => ({
    ...row,
    retentionMs: retentionOf(row.name, retention),
    compacted: false,
  })),
  identity,
];

/** Whether handling a record of this topic can create its run again. Records of the audit and of the store identity cannot. */
export const canRevive = ({ name, retentionMs }: Pick<TopicSpec, 'name' | 'retentionMs'>): boolean => name !== 'audit' && retentionMs >= 0;

/** Milliseconds for which a store keeps ended runs, journal, applied ids and tombstones: as long as a record can create its run again. */
export const keptRunMs = (topics: readonly Pick<TopicSpec, 'name' | 'retentionMs'>[]): number =>
  Math.max(...topics.filter(canRevive).map(({ retentionMs }) => retentionMs));
