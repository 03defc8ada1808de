import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openRedisState } from '@conclave/adapter-redis';
import { type Mode, topicsFor } from '@conclave/contracts';
import { Kafka, logLevel } from 'kafkajs';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import type { Report, Table } from '../measuring/report.js';
import { digits } from '../measuring/statistics.js';
import { FakeModel } from '../model-server/fake-model.js';
import type { Schedule } from '../model-server/schedule.js';
import { streamChat } from '../model-server/streaming-client.js';
import { Closing } from '../processes/closing.js';
import { liveTemplate, startDistributed, startEmbedded, type Launched } from '../processes/product.js';
import { Scratch } from '../processes/scratch.js';
import { startStores, storesObstacle, type Stores } from '../processes/stores.js';
import { bytesOf, keptOfRun } from './kept-of-run.js';

/** A model that answers at once, so that only the needs of Conclave remain. */
const schedule: Schedule = { firstTokenMs: 1, gapMs: 0, tokens: 200, hang: null };
const atOnce = 8;
const withinMs = 120_000;
/** Runs before the measured ones: code is compiled, pages and segments exist. */
const warmUp = 40;
const daySeconds = 86_400;
const hourSeconds = 3_600;
const inRedis = 'Redis (memory)';

/** Bytes in each store. */
interface Stored {
  readonly where: string;
  readonly bytes: number;
  /** Seconds after which the data is deleted; absent if every day adds to it. */
  readonly keptSeconds?: number;
}

/** Milliseconds that the stream of an ended run stays, plus a minute. */
const streamMs = (hourSeconds + 60) * 1000;

interface Measured {
  readonly runs: number;
  readonly seconds: number;
  readonly rss: readonly { readonly app: string; readonly bytes: number }[];
  /** Bytes of one run in each store. */
  readonly perRun: readonly Stored[];
  /** Mean bytes of each of its keys in Redis. */
  readonly keys: readonly { readonly name: string; readonly bytes: number; readonly isBrief: boolean }[];
}

const rssOf = (pid: number): number => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;

async function ask(url: string, runs: number, tag: string, progress: (text: string) => void): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < runs) {
      const n = next++;
      if (n % 20 === 0) progress(`${n} of ${runs} runs`);
      await streamChat({ url, model: liveTemplate, prompt: `What is question ${tag} ${n} about?`, withinMs });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** Bytes of the keys, values and headers of every record with this prefix. */
async function bytesOnKafka({ brokers }: Stores, prefix: string): Promise<number> {
  const kafka = new Kafka({ brokers: [...brokers], clientId: 'bench-sizing', logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const names = topicsFor().map(({ name }) => prefix + name);
  let left = 0;
  for (const name of names) for (const { low, high } of await admin.fetchTopicOffsets(name)) left += Number(high) - Number(low);
  await admin.disconnect();
  const consumer = kafka.consumer({ groupId: `bench-sizing-${Date.now()}` });
  let bytes = 0;
  await consumer.connect();
  await consumer.subscribe({ topics: names, fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    if (left === 0) return resolve();
    consumer
      .run({
        autoCommit: false,
        eachMessage: async ({ message: { key, value, headers } }) => {
          bytes += (key?.length ?? 0) + (value?.length ?? 0);
          for (const [name, text] of Object.entries(headers ?? {})) bytes += name.length + String(text).length;
          if (--left === 0) resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  return bytes;
}

/** Mean bytes of the keys of a run, by name. */
async function keysOfRedis(stores: Stores | null, runs: number): Promise<Measured['keys']> {
  const sums = new Map<string, { name: string; bytes: number; isBrief: boolean }>();
  for (const { name, bytes, leftMs } of stores ? await keptOfRun(stores.redisUrl) : []) {
    const sum = sums.get(name) ?? { name, bytes: 0, isBrief: leftMs < streamMs };
    sums.set(name, { ...sum, bytes: sum.bytes + bytes / runs });
  }
  return [...sums.values()];
}

async function memoryOfRedis({ redisUrl }: Stores): Promise<number> {
  const redis = await openRedisState({ url: redisUrl, processId: 'sizing', keyPrefix: 'sizing:' });
  try {
    return (await redis.memory()).usedBytes;
  } finally {
    await redis.close();
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

async function measure(mode: Mode, runs: number, { progress, profile }: BenchmarkOptions, closing: Closing): Promise<Measured> {
  const scratch = new Scratch();
  closing.add(() => scratch.remove());
  const fake = await FakeModel.start();
  closing.add(() => fake.close());
  await fake.schedule(schedule);
  const stores = mode === 'distributed' ? await startStores(closing) : null;
  const options = { modelUrl: fake.url, scratch, closing, profile, settings: { gateway: { max_open_runs: 1_000 } } };
  const product = stores ? await startDistributed(stores, options) : await startEmbedded(options);
  const home = join(scratch.folder, 'embedded');
  const stored = async (): Promise<readonly Stored[]> =>
    stores
      ? [
          { where: 'Kafka (keys, values and headers, one copy, not compressed)', bytes: await bytesOnKafka(stores, 'product.') },
          { where: inRedis, bytes: await memoryOfRedis(stores) },
        ]
      : [{ where: 'the data folder (disk)', bytes: sizeOf(join(home, 'conclave.db')) + sizeOf(join(home, 'conclave.db-wal')) }];
  await ask(product.url, warmUp, 'warm', progress);
  // Consumers that learn from a run write a moment after its end.
  await delay(3_000);
  const before = await stored();
  const began = performance.now();
  await ask(product.url, runs, 'measured', progress);
  const seconds = (performance.now() - began) / 1_000;
  await delay(3_000);
  const rss = product.processes.map(({ app, pid }: Launched) => ({ app, bytes: rssOf(pid) }));
  const after = await stored();
  const perRun = after.map(({ where, bytes }, n) => ({ where, bytes: (bytes - before[n]!.bytes) / runs }));
  const keys = await keysOfRedis(stores, runs + warmUp);
  const brief = bytesOf(keys.filter(({ isBrief }) => isBrief));
  const split = perRun.flatMap((one) =>
    one.where === inRedis
      ? [
          { where: `${inRedis}, the last hour`, bytes: brief, keptSeconds: hourSeconds },
          { where: `${inRedis}, until its retention is over`, bytes: one.bytes - brief },
        ]
      : [one],
  );
  return { runs, seconds, rss, perRun: split, keys };
}

const kilobytes = (bytes: number): string => `${digits(bytes / 1_000)} KB`;
const gigabytes = (bytes: number): string => `${digits(bytes / 1e9)} GB`;

function tablesOf(mode: Mode, { runs, seconds, rss, perRun, keys }: Measured): readonly Table[] {
  return [
    {
      title: `${mode}: ${digits(runs / seconds)} runs a second with ${atOnce} at once; resident memory after ${runs + warmUp} runs`,
      columns: ['process', 'MB'],
      rows: rss.map(({ app, bytes }) => [app, digits(bytes / 1e6)]),
    },
    {
      title: `${mode}: what a run of three calls leaves, and what a day of it takes`,
      columns: ['where', 'a run', 'a day at 1 run a minute', 'a day at 1 run a second'],
      rows: perRun.map(({ where, bytes, keptSeconds = daySeconds }) => [
        where,
        kilobytes(bytes),
        gigabytes((bytes * keptSeconds) / 60),
        gigabytes(bytes * keptSeconds),
      ]),
    },
    ...(keys.length === 0
      ? []
      : [
          {
            title: `${mode}: the keys of an ended run in Redis`,
            columns: ['key', 'memory', 'kept for'],
            rows: keys.map(({ name, bytes, isBrief }) => [name, kilobytes(bytes), isBrief ? 'an hour' : 'the retention']),
          },
        ]),
  ];
}

export const sizing: Benchmark = {
  id: 'SIZE',
  title: 'runs a second, memory of each service, and what a run leaves in each store',
  obstacle: async () => null,
  async run(options: BenchmarkOptions): Promise<Report> {
    const runs = options.quick ? 40 : 400;
    const missing = options.embedded ? 'excluded by --embedded' : await storesObstacle();
    const modes: readonly Mode[] = missing === null ? ['embedded', 'distributed'] : ['embedded'];
    const tables: Table[] = [];
    for (const mode of modes) {
      const closing = new Closing();
      try {
        tables.push(...tablesOf(mode, await measure(mode, runs, options, closing)));
      } finally {
        await closing.run();
      }
    }
    return {
      definition: [
        `${runs} streamed chats after ${warmUp} to warm up, ${atOnce} at once: single-pass, a plan, one expert and an answer of ${schedule.tokens} tokens; a fake model that answers at once, in a process of its own. Short questions: a long prompt is kept once for each call that sends it.`,
        'What a store holds is read three seconds after the last answer and compared with before the first; in distributed mode broker and Redis are private ones on this machine.',
      ],
      tables,
      findings: [],
      notes: [
        'Redis keeps the live stream of an ended run for an hour, and the rest of it for `retention_days`. Kafka keeps each topic for its own time, times `replication`.',
        ...(missing === null ? [] : [`Distributed mode was not measured: ${missing}.`]),
      ],
    };
  },
};
