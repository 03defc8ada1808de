import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { callsPerRun, rounds as plans } from '../committee/replies.js';
import { nextRunId, RunStarter } from '../committee/run-starter.js';
import { committeeServices, startServices } from '../committee/services.js';
import { interleave } from '../measuring/interleave.js';
import type { Finding, Report } from '../measuring/report.js';
import { median, quantile, ratios, spread } from '../measuring/statistics.js';
import { Closing } from '../processes/closing.js';
import { Scratch } from '../processes/scratch.js';
import { startStores, storesObstacle, type Stores } from '../processes/stores.js';
import { Worker } from '../processes/worker.js';
import { BrokerPing } from './broker-ping.js';
import { LogHop } from './log-hop.js';

/**
 * Consecutive records from question to answer. A round: plan request or gap, plan, tasks of the experts, their results,
 * gap check, its result. Then the composer's task and its result.
 */
const hopsPerRun = plans * 6 + 2;
/** Typical size of an event of such a run. */
const bytes = 1_024;

const pings = "the broker's own";
const hop = 'event log';
const run = 'agentic run, per hop';
const other = 'the other Conclave';

interface Sizes {
  readonly records: number;
  readonly runs: number;
  readonly partitions: number;
}
const sizesOf = (quick: boolean): Sizes => (quick ? { records: 20, runs: 2, partitions: 4 } : { records: 150, runs: 15, partitions: 24 });

/** Names a provider to prevent discovery; instant models replace its models. */
const configuration = (stores: Stores, prefix: string, partitions: number): object => ({
  providers: { bench: { base_url: 'http://127.0.0.1:9/v1', paid: false } },
  ...stores.configuration(prefix, partitions),
});

/** Starts the committee as four processes of the built programs in `dist`; this process acts as the gateway. */
async function startCommittee(
  home: string,
  closing: Closing,
  { dist, profile }: { readonly dist: URL; readonly profile?: string | undefined },
): Promise<{ starter: RunStarter; calls: () => Promise<number> }> {
  const gateway = await startServices({ CONCLAVE_HOME: home }, home, 'gateway', []);
  closing.add(() => gateway.close());
  const starting = committeeServices.map(async (service) => {
    const worker = await Worker.start({
      name: service,
      script: new URL('service-worker.js', dist),
      args: [home, service],
      profile,
    });
    closing.add(() => worker.close());
    return worker;
  });
  await Promise.allSettled(starting);
  const workers = await Promise.all(starting);
  const starter = await RunStarter.open(gateway.ports);
  closing.add(() => starter.close());
  return {
    starter,
    calls: async () => (await Promise.all(workers.map((worker) => worker.call<number>('calls')))).reduce((sum, calls) => sum + calls, 0),
  };
}

async function measureRuns({ starter, calls }: Awaited<ReturnType<typeof startCommittee>>, runs: number): Promise<readonly number[]> {
  const taken: number[] = [];
  const before = await calls();
  for (let n = 0; n < runs; n += 1) {
    const from = performance.now();
    await starter.run(nextRunId());
    taken.push((performance.now() - from) / hopsPerRun);
  }
  const made = (await calls()) - before;
  if (made !== runs * callsPerRun) throw new Error(`${made} model calls were made instead of ${runs * callsPerRun}.`);
  return taken;
}

function findingsOf(results: ReadonlyMap<string, readonly (readonly number[])[]>): readonly Finding[] {
  const against = (what: string, atMost: number | null, reference = `${pings} produce-to-consume latency`, of = pings): Finding => {
    const value = spread(ratios(results.get(what)!.map(median), results.get(of)!.map(median)));
    return { what: `${what}, p50`, reference: `${reference}, p50`, value, unit: 'x', target: atMost === null ? null : { atMost } };
  };
  const compared = results.has(other) ? [against(other, null), against(run, null, other, other)] : [];
  return [against(run, 1.5), against(hop, null), ...compared];
}

export const hopOverKafka: Benchmark = {
  id: 'B3',
  title: 'what a hop of an agentic run costs over real Kafka',
  obstacle: storesObstacle,
  async run({ quick, progress, profile, against, rounds = quick ? 1 : 9 }: BenchmarkOptions): Promise<Report> {
    const closing = new Closing();
    const { records, runs, partitions } = sizesOf(quick);
    try {
      const scratch = new Scratch();
      closing.add(() => scratch.remove());
      progress('starting Kafka, Redis and four services');
      const stores = await startStores(closing);
      const ping = await BrokerPing.open(stores.brokers, { partitions, bytes });
      closing.add(() => ping.close());
      const hopHome = scratch.home('hop', configuration(stores, 'hop', partitions));
      const alone = await startServices({ CONCLAVE_HOME: hopHome }, hopHome, 'gateway', []);
      closing.add(() => alone.close());
      const logHop = await LogHop.open(alone.ports.log, bytes);
      closing.add(() => logHop.close());
      const committeeOf = (prefix: string, dist: URL) =>
        startCommittee(scratch.home(prefix, configuration(stores, prefix, partitions)), closing, { dist, profile });
      const committee = await committeeOf('run', new URL('./', import.meta.url));
      const beside = against === undefined ? null : await committeeOf('other', pathToFileURL(join(against, 'dist/')));
      const results = await interleave(
        [
          { name: pings, measure: () => ping.measure(records) },
          { name: hop, measure: () => logHop.measure(records) },
          { name: run, measure: () => measureRuns(committee, runs) },
          ...(beside ? [{ name: other, measure: () => measureRuns(beside, runs) }] : []),
        ],
        rounds,
        progress,
      );
      return {
        definition: [
          `The run of B2 (${callsPerRun} model calls, answered at once inside each process) over a real broker and Redis: planner, experts, merger and`,
          `graph-ingest as a process each, one run at a time. ${hopsPerRun} records follow each other in it, so per hop = time of the run / ${hopsPerRun}: handlers and state included.`,
          `Event log: one event of ${bytes} bytes from publish to its handler through our adapter, with nothing to do there.`,
          `The broker's own: a record of ${bytes} bytes from send to the consumer with kafkajs alone (acks -1, fetch wait 50 ms).`,
          `${records} records or ${runs} runs a round; ${partitions} partitions; broker and Redis (appendfsync always) are the benchmark's own.`,
        ],
        tables: [
          {
            title: 'Milliseconds, by round:',
            columns: ['what', 'p50', 'p99'],
            rows: [...results].map(([name, taken]) => [
              name,
              spread(taken.map(median)),
              spread(taken.map((round) => quantile(round, 0.99))),
            ]),
          },
        ],
        findings: findingsOf(results),
        notes: [],
      };
    } finally {
      await closing.run();
    }
  },
};
