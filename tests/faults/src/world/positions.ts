import { Kafka, logLevel } from 'kafkajs';
import Database from 'libsql';
import type { Committed } from '../evidence/evidence.js';

/** Offsets that the groups of a topic prefix have committed; groups and topics without the prefix. */
export async function committedOnKafka(brokers: readonly string[], prefix: string): Promise<readonly Committed[]> {
  const admin = new Kafka({ brokers: [...brokers], clientId: 'checker', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const groups = (await admin.listGroups()).groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(prefix));
    const found: Committed[] = [];
    for (const groupId of groups) {
      const group = groupId.slice(prefix.length);
      if (group.startsWith('read-')) continue;
      for (const { topic, partitions } of await admin.fetchOffsets({ groupId }))
        for (const { partition, offset } of partitions)
          if (Number(offset) >= 0) found.push({ group, topic: topic.slice(prefix.length), partition, offset });
    }
    return found;
  } finally {
    await admin.disconnect();
  }
}

/** Positions of the embedded groups, as the offset that is next. The data folder must be at rest. */
export function committedEmbedded(file: string): readonly Committed[] {
  const database = new Database(file, { readonly: true });
  try {
    const rows = database.prepare('SELECT group_name, topic, position FROM log_cursor').all() as {
      group_name: string;
      topic: string;
      position: number;
    }[];
    return rows.map(({ group_name, topic, position }) => ({ group: group_name, topic, partition: 0, offset: String(position + 1) }));
  } finally {
    database.close();
  }
}
