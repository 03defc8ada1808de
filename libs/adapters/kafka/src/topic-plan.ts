import { deadTopic, defaultPartitions, type TopicSpec } from '@conclave/contracts';
import type { TopicOptions } from './options.js';

/** The topic of dead letters can hold the largest record of any topic plus some headers. */
const deadLetterBytes = 4 * 1024 * 1024;

/** A topic as it should be on the cluster. */
export interface PlannedTopic {
  /** Includes the prefix. */
  readonly name: string;
  readonly partitions: number;
  readonly replication: number;
  /** Settings that differ from the broker's defaults, as Kafka writes them. */
  readonly settings: Readonly<Record<string, string>>;
  readonly spec: TopicSpec;
}

/** Every topic with its partitions, copies and settings. */
export function planTopics(options: Pick<TopicOptions, 'topics' | 'partitions' | 'replication' | 'topicPrefix'>): readonly PlannedTopic[] {
  const replication = options.replication ?? 1;
  return options.topics.map((spec) => ({
    name: (options.topicPrefix ?? '') + spec.name,
    partitions: spec.compacted ? 1 : (options.partitions ?? defaultPartitions),
    replication,
    settings: settingsOf(spec, replication),
    spec,
  }));
}

const settingsOf = (spec: TopicSpec, replication: number): Record<string, string> => ({
  'cleanup.policy': spec.compacted ? 'compact' : 'delete',
  'retention.ms': String(spec.retentionMs),
  'message.timestamp.type': 'LogAppendTime',
  ...(replication >= 3 ? { 'min.insync.replicas': '2' } : {}),
  ...(spec.name === deadTopic ? { 'max.message.bytes': String(deadLetterBytes) } : {}),
});

/** A topic as it is on the cluster; `settings` has the requested ones. */
export interface FoundTopic {
  readonly name: string;
  readonly partitions: number;
  readonly replication: number;
  readonly settings: Readonly<Record<string, string>>;
}

/** One sentence per difference from the plan, with what to do; empty if there is none. */
export function topicDifferences(planned: readonly PlannedTopic[], found: readonly FoundTopic[]): readonly string[] {
  const byName = new Map(found.map((topic) => [topic.name, topic]));
  return planned.flatMap((topic) => {
    const present = byName.get(topic.name);
    return present ? differencesOf(topic, present) : [`${topic.name} is missing: create it with \`conclave topics create\`.`];
  });
}

function differencesOf(planned: PlannedTopic, found: FoundTopic): string[] {
  const { name, spec } = planned;
  const sentences: string[] = [];
  if (found.partitions !== planned.partitions)
    sentences.push(
      spec.compacted || found.partitions > planned.partitions
        ? `${name} has ${found.partitions} partitions instead of ${planned.partitions}: partitions cannot be removed${spec.compacted ? '; recreate the topic' : `, so set stores.kafka.partitions to ${found.partitions} or recreate the topic`}.`
        : `${name} has ${found.partitions} partitions instead of ${planned.partitions}: adding partitions would move the keys of running work, so set stores.kafka.partitions to ${found.partitions} or recreate the topic.`,
    );
  if (found.replication !== planned.replication)
    sentences.push(
      `${name} has ${found.replication} ${found.replication === 1 ? 'copy' : 'copies'} of each partition instead of ${planned.replication}: reassign its partitions with kafka-reassign-partitions.sh.`,
    );
  for (const [setting, wanted] of Object.entries(planned.settings)) {
    const present = found.settings[setting];
    if (present === wanted) continue;
    sentences.push(
      `${name} has ${setting}=${present ?? '(unknown)'} instead of ${wanted}${setting === 'retention.ms' ? ` (${kept(wanted)})` : ''}: change it with kafka-configs.sh.`,
    );
  }
  return sentences;
}

const kept = (retentionMs: string): string => (Number(retentionMs) < 0 ? 'for ever' : `${Number(retentionMs) / 86_400_000} days`);

export interface CommandOptions {
  /** `host:port`, comma-separated. */
  readonly brokers: readonly string[];
  readonly topicPrefix?: string;
  /** Principal that the services log in as, such as `User:conclave`. */
  readonly principal: string;
  /** Path of a client settings file for the operator; passed to each command. */
  readonly commandConfig?: string;
}

/** Shell commands that create the topics and their ACLs, for clusters where the product may not create them. */
export function topicCommands(planned: readonly PlannedTopic[], options: CommandOptions): readonly string[] {
  const { brokers, principal, commandConfig } = options;
  const prefix = options.topicPrefix ?? '';
  const end = `--bootstrap-server ${quoted(brokers.join(','))}${commandConfig ? ` --command-config ${quoted(commandConfig)}` : ''}`;
  const create = planned.map(
    ({ name, partitions, replication, settings }) =>
      `kafka-topics.sh ${end} --create --if-not-exists --topic ${quoted(name)} --partitions ${partitions} --replication-factor ${replication} ${Object.entries(
        settings,
      )
        .map(([setting, value]) => `--config ${setting}=${value}`)
        .join(' ')}`,
  );
  // --if-not-exists leaves the settings of existing topics alone; this sets them.
  const configure = planned.map(
    ({ name, settings }) =>
      `kafka-configs.sh ${end} --alter --entity-type topics --entity-name ${quoted(name)} --add-config ${Object.entries(settings)
        .map(([setting, value]) => `${setting}=${value}`)
        .join(',')}`,
  );
  const grant = `kafka-acls.sh ${end} --add --allow-principal ${quoted(principal)}`;
  const acls = [
    ...planned.map(
      ({ name }) => `${grant} --operation Read --operation Write --operation Describe --operation DescribeConfigs --topic ${quoted(name)}`,
    ),
    ...groupAcls(prefix).map(
      ({ name, pattern, operations }) =>
        `${grant} ${operations.map((operation) => `--operation ${operation}`).join(' ')} --group ${quoted(name)} --resource-pattern-type ${pattern}`,
    ),
  ];
  return [
    '# topics',
    ...create,
    '',
    '# settings, also of topics that exist already',
    ...configure,
    '',
    '# access of the services',
    ...acls,
  ];
}

/** Consumer groups: those of the services, of the task classes, and temporary ones that read a topic to its end. */
const groupAcls = (prefix: string) => [
  ...['planner', 'merger', 'learning', 'webhooks', 'graph-ingest'].map((name) => ({
    name: prefix + name,
    pattern: 'literal',
    operations: ['Read', 'Describe'],
  })),
  { name: `${prefix}tasks.`, pattern: 'prefixed', operations: ['Read', 'Describe'] },
  { name: `${prefix}read-`, pattern: 'prefixed', operations: ['Read', 'Describe', 'Delete'] },
];

/** Quotes one shell word. */
const quoted = (text: string): string => (/^[\w.,:/@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
