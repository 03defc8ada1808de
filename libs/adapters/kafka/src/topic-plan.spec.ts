import { describe, expect, it } from '@jest/globals';
import { topicsFor } from '@conclave/contracts';
import { planTopics, topicCommands, topicDifferences, type FoundTopic } from './topic-plan.js';

const planned = planTopics({ topics: topicsFor(['expert', 'gpu']), partitions: 6, replication: 3, topicPrefix: 'acme.' });
const named = (name: string) => planned.find((topic) => topic.name === name)!;
/** The planned cluster, with some topics changed. */
const cluster = (changes: Readonly<Record<string, Partial<FoundTopic> | null>> = {}): FoundTopic[] =>
  planned.flatMap(({ name, partitions, replication, settings }) =>
    changes[name] === null ? [] : [{ name, partitions, replication, settings, ...changes[name] }],
  );

describe('the plan of the topics', () => {
  it('contains every topic with partitions, copies, retention and compaction', () => {
    expect(named('acme.tasks.dispatched.gpu')).toMatchObject({
      partitions: 6,
      replication: 3,
      settings: { 'cleanup.policy': 'delete', 'retention.ms': String(14 * 86_400_000), 'min.insync.replicas': '2' },
    });
    expect(named('acme.store.identity')).toMatchObject({ partitions: 1, settings: { 'cleanup.policy': 'compact', 'retention.ms': '-1' } });
    expect(named('acme.dead').settings).toMatchObject({ 'max.message.bytes': String(4 * 1024 * 1024) });
    expect(planned.every(({ settings }) => settings['message.timestamp.type'] === 'LogAppendTime')).toBe(true);
    expect(named('acme.audit').settings['retention.ms']).toBe(String(14 * 86_400_000));
    expect(planTopics({ topics: topicsFor([]) })[0]).toMatchObject({ name: 'plan.requested', partitions: 24, replication: 1 });
    expect(planTopics({ topics: topicsFor([]) })[0]!.settings).not.toHaveProperty('min.insync.replicas');
  });

  it('is printed as commands for topics, settings and access, with every name quoted for a shell', () => {
    const lines = topicCommands(planned, {
      brokers: ['a:9092', 'b:9092'],
      topicPrefix: 'acme.',
      principal: "User:O'Neill",
      commandConfig: '/etc/kafka/admin client.properties',
    });
    expect(lines.filter((line) => line.startsWith('kafka-topics.sh'))).toHaveLength(planned.length);
    expect(lines.filter((line) => line.startsWith('kafka-configs.sh'))).toHaveLength(planned.length);
    expect(lines).toContain(
      "kafka-topics.sh --bootstrap-server a:9092,b:9092 --command-config '/etc/kafka/admin client.properties' --create --if-not-exists --topic acme.store.identity --partitions 1 --replication-factor 3 --config cleanup.policy=compact --config retention.ms=-1 --config message.timestamp.type=LogAppendTime --config min.insync.replicas=2",
    );
    const acls = lines.filter((line) => line.startsWith('kafka-acls.sh'));
    expect(acls.every((line) => line.includes(`--allow-principal 'User:O'\\''Neill'`))).toBe(true);
    expect(
      acls.some((line) => line.includes('--group acme.read- --resource-pattern-type prefixed') && line.includes('--operation Delete')),
    ).toBe(true);
    expect(acls.some((line) => line.includes('--group acme.tasks. --resource-pattern-type prefixed'))).toBe(true);
    expect(acls.some((line) => line.includes('--group acme.merger --resource-pattern-type literal'))).toBe(true);
  });

  it('reports no difference from a cluster, or one sentence for each', () => {
    expect(topicDifferences(planned, cluster())).toEqual([]);
    const changed = cluster({
      'acme.audit': null,
      'acme.plan.created': { partitions: 3 },
      'acme.plan.requested': { partitions: 12 },
      'acme.results.ready': { replication: 1 },
      'acme.dead': { settings: { ...named('acme.dead').settings, 'retention.ms': '60000', 'max.message.bytes': '1048588' } },
      'acme.store.identity': { settings: { ...named('acme.store.identity').settings, 'cleanup.policy': 'delete' } },
    });
    expect(topicDifferences(planned, changed)).toEqual([
      expect.stringMatching(/^acme\.plan\.requested has 12 partitions instead of 6: partitions cannot be removed/),
      expect.stringMatching(/^acme\.plan\.created has 3 partitions instead of 6: adding partitions would move the keys/),
      expect.stringMatching(/^acme\.results\.ready has 1 copy of each partition instead of 3/),
      'acme.audit is missing: create it with `conclave topics create`.',
      'acme.dead has retention.ms=60000 instead of 1209600000 (14 days): change it with kafka-configs.sh.',
      'acme.dead has max.message.bytes=1048588 instead of 4194304: change it with kafka-configs.sh.',
      'acme.store.identity has cleanup.policy=delete instead of compact: change it with kafka-configs.sh.',
    ]);
  });
});
