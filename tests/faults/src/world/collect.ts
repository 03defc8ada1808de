import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { openLog } from '@conclave/host';
import { loadConfiguration, openLogger } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { Kafka, logLevel } from 'kafkajs';
import Database from 'libsql';
import type { Bounds, Closing, Evidence, LoggedRecord, MemoryUse, GroupPosition } from '../evidence/evidence.js';
import { conclave, outside } from './command.js';
import { pause } from '../scenarios/measure.js';
import type { Afterwards } from '../scenarios/scenario.js';
import type { World } from './world.js';

/** Waits until the time limit has passed for every run whose end no client saw: before that, it is unknown whether the end would come. */
export async function waitForBound({ load, lastFaultAt }: World, terminalMs: number): Promise<void> {
  const open = load.asked.flatMap(({ runId, acceptedAt }) => (runId !== null && !load.ended.has(runId) ? [acceptedAt ?? 0] : []));
  if (open.length === 0) return;
  const over = Math.max(lastFaultAt ?? 0, ...open) + terminalMs;
  await pause(Math.max(0, over - Date.now()) + 500);
}

/** Lets the system come to rest, ends it in an orderly way, and gathers everything that the checker needs. */
export async function collect(
  world: World,
  scenario: string,
  { closeMs, calmMs }: Pick<Bounds, 'closeMs' | 'calmMs'>,
  afterwards: Afterwards | null = null,
): Promise<Evidence> {
  const { system } = world;
  await world.load.stop();
  const collectedAt = Date.now();
  const lag = await world.unfinished(world.controlled ? Math.min(calmMs, 10_000) : calmMs);
  const found = await afterwards?.();
  const memory = await memoryAfter(world);
  // Ends before the orderly end, caused by the storm.
  const deaths = [...system.all()].flatMap(([process, supervised]) =>
    supervised.exits().map(({ at, signal }) => ({ process, at, signal: signal as string | null })),
  );
  const closings = await haltAll(world, closeMs);
  const records = await readLog(world);
  const committed =
    world.mode === 'embedded' ? committedEmbedded(join(system.home, 'conclave.db')) : await committedOnKafka(kafkaOf(world), system.prefix);
  const replay = await replayAll(world);
  return {
    scenario,
    mode: world.mode,
    collectedAt,
    history: system.history(),
    asked: world.load.asked,
    viewings: world.load.viewings,
    records,
    committed,
    lag,
    memory,
    closings,
    replay,
    deaths: [...deaths, ...world.frozen],
    mayFail: world.mayFail,
    broken: world.broken,
    upstreamFaults: world.upstreamFaults,
    ...found,
  };
}

async function memoryAfter(world: World): Promise<readonly MemoryUse[]> {
  const before = new Map(world.before.map(({ process, beforeMb }) => [process, beforeMb]));
  return (await world.memory()).map(({ process, afterMb }) => ({ process, beforeMb: before.get(process) ?? afterMb, afterMb }));
}

/** Sends SIGTERM to all at once; a process that does not end in time is killed and reported as such. */
async function haltAll({ system }: World, closeMs: number): Promise<readonly Closing[]> {
  return Promise.all(
    [...system.all()].map(async ([process, supervised]) => {
      const began = performance.now();
      const exit = await supervised.stop(closeMs);
      return { process, exit, ms: Math.round(performance.now() - began) };
    }),
  );
}

const kafkaOf = ({ servers, system }: World): readonly string[] => (servers.direct.KAFKA_BROKERS ?? system.stack!.KAFKA_BROKERS).split(',');

async function readLog(world: World): Promise<readonly LoggedRecord[]> {
  const loaded = loadConfiguration(outside(world), world.system.folder, { categories: Object.keys(expertPrompts) });
  const processId = `checker-${randomUUID()}`;
  const opened = await openLog({ loaded, logger: openLogger({ level: 'silent', sinks: [], fields: {} }), processId });
  if (!opened) return [];
  try {
    const records: LoggedRecord[] = [];
    for (const topic of opened.topics)
      for await (const { partition, offset, appendedAt, headers, event } of opened.log.read(topic))
        records.push({
          topic,
          partition,
          offset,
          appendedAt,
          headers,
          event: event && { id: event.id, type: event.type, runId: event.runId, time: event.time, data: event.data },
        });
    return records;
  } finally {
    await opened.close();
  }
}

/** `conclave replay --all --recorded` as a person would call it, with the model server still listening. */
async function replayAll(world: World): Promise<Evidence['replay']> {
  const calls = world.system.models.calls.length;
  const { code, text } = await conclave(world, ['replay', '--all', '--recorded']);
  return { code, text, modelCalls: world.system.models.calls.length - calls };
}

/** Offsets that the groups of a topic prefix have committed; groups and topics without the prefix. */
async function committedOnKafka(brokers: readonly string[], prefix: string): Promise<readonly GroupPosition[]> {
  const admin = new Kafka({ brokers: [...brokers], clientId: 'checker', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const groups = (await admin.listGroups()).groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(prefix));
    const found: GroupPosition[] = [];
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
function committedEmbedded(file: string): readonly GroupPosition[] {
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
