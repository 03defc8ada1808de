import { connect } from 'node:net';
import { randomUUID } from 'node:crypto';
import { deadTopic, identityTopic, type TopicSpec } from '@conclave/contracts';
import { MemoryBlobs, MemoryDeliveries, type DeliveryLedger, type EventLog } from '@conclave/ports';
import type { EventLogWorld } from '@conclave/ports/suites';
import { TcpProxy } from '@conclave/test-support';
import { Partitioners, type ISocketFactory } from 'kafkajs';
import { ensureTopics, openKafkaLog, type KafkaLogOptions } from '../index.js';
import { kafkaClient } from '../options.js';
import { messageOf } from '../raw-records.js';
import { realBrokers } from './broker.js';

/** The log of one process, connected through its own proxy, which can be cut. */
export interface Process {
  readonly log: EventLog;
  readonly proxy: TcpProxy;
  readonly id: string;
}

export interface KafkaWorld extends EventLogWorld {
  readonly first: Process;
  readonly prefix: string;
  readonly deliveries: MemoryDeliveries;
  start(options?: Partial<KafkaLogOptions>): Promise<Process>;
}

export interface WorldOptions {
  readonly topics: readonly string[];
  readonly partitions: number;
  readonly brokers?: readonly string[];
  readonly options?: Partial<KafkaLogOptions>;
}

/** A separate prefix on the real cluster; its topics are removed at the end. */
export async function openWorld({ topics, partitions, brokers = realBrokers(), options = {} }: WorldOptions): Promise<KafkaWorld> {
  const topicPrefix = `test-${randomUUID().slice(0, 8)}.`;
  const direct = { brokers, clientId: 'test', topicPrefix };
  await ensureTopics({ ...direct, partitions, topics: [...topics, deadTopic, identityTopic].map(specOf) });

  const deliveries = new MemoryDeliveries({ leaseMs: 1000, now: Date.now });
  const blobs = new MemoryBlobs();
  const processes: Process[] = [];
  const dead = new Set<string>();

  async function start(more: Partial<KafkaLogOptions> = {}): Promise<Process> {
    const id = `process-${processes.length + 1}`;
    const [host, port] = brokers[0]!.split(':');
    const proxy = await TcpProxy.open({ target: { host: host!, port: Number(port) } });
    const log = await openKafkaLog({
      ...direct,
      clientId: id,
      sessionTimeoutMs: 6000,
      blobs,
      ledger: mortal(deliveries.ledger(id), () => dead.has(id)),
      socketFactory: through(proxy),
      ...options,
      ...more,
    });
    const process = { log, proxy, id };
    processes.push(process);
    return process;
  }

  const first = await start();
  const raw = kafkaClient(direct).producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await raw.connect();
  return {
    first,
    log: first.log,
    prefix: topicPrefix,
    deliveries,
    start,
    another: async () => (await start()).log,
    async crash(log) {
      const { id, proxy } = processes.find((process) => process.log === log)!;
      dead.add(id);
      deliveries.died(id);
      proxy.refuse(true);
    },
    async publishRaw({ topic, ...record }) {
      await raw.send({ topic: topicPrefix + topic, messages: [messageOf(record)] });
    },
    ledgerOutage: {
      begin: async () => void (deliveries.down = true),
      end: async () => void (deliveries.down = false),
    },
    interrupt: () => first.proxy.cut(),
    async dispose() {
      await Promise.all(processes.map(({ log }) => log.close()));
      await Promise.all(processes.map(({ proxy }) => proxy.close()));
      await raw.disconnect();
      await removeTopics(direct);
    },
  };
}

/** Every connection goes through the proxy, whatever address the broker advertises. */
export const through =
  (proxy: TcpProxy): ISocketFactory =>
  ({ onConnect }) =>
    connect({ host: '127.0.0.1', port: proxy.port }, onConnect);

/** After death, calls never reach the ledger and never settle. */
function mortal(ledger: Required<DeliveryLedger>, isDead: () => boolean): Required<DeliveryLedger> {
  const alive = <T>(act: () => Promise<T>): Promise<T> => (isDead() ? new Promise<T>(() => {}) : act());
  return {
    unended: (key) => alive(() => ledger.unended(key)),
    begin: (key) => alive(() => ledger.begin(key)),
    failed: (key) => alive(() => ledger.failed(key)),
    released: (key) => alive(() => ledger.released(key)),
    done: (key) => alive(() => ledger.done(key)),
  };
}

const specOf = (name: string): TopicSpec => ({ name, key: 'none', retentionMs: 3_600_000, compacted: name === identityTopic, doc: 'test' });

async function removeTopics(direct: { brokers: readonly string[]; clientId: string; topicPrefix: string }): Promise<void> {
  const admin = kafkaClient(direct).admin();
  await admin.connect();
  try {
    const topics = (await admin.listTopics()).filter((name) => name.startsWith(direct.topicPrefix));
    if (topics.length > 0) await admin.deleteTopics({ topics });
  } finally {
    await admin.disconnect();
  }
}
