import { setTimeout as delay } from 'node:timers/promises';
import { availableParallelism } from 'node:os';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { startServices } from '../committee/services.js';
import { CpuMeter } from '../measuring/cpu.js';
import { interleave } from '../measuring/interleave.js';
import type { Finding, Report, Table } from '../measuring/report.js';
import { median, paired, spread } from '../measuring/statistics.js';
import { FakeModel } from '../model-server/fake-model.js';
import { Closing } from '../processes/closing.js';
import { configuration, launch, type Launched } from '../processes/product.js';
import { Scratch } from '../processes/scratch.js';
import { startStores, storesObstacle } from '../processes/stores.js';
import { evenTaskIds, TaskBoard } from '../tasks/task-board.js';

const latencyMs = 200;
/** Concurrent tasks per worker: few enough that it waits for its model, not for the machine. */
const slots = 2;
const partitions = 24;
/** From this busy share on, the machine limits the workers. */
const fullAt = 0.9;
/** More tasks than the workers can finish in the measured time. */
const surplus = 1.3;

interface Sizes {
  readonly workers: readonly number[];
  /** Seconds from the first result until measuring begins; `measuredS`: seconds measured. */
  readonly warmS: number;
  readonly measuredS: number;
}
const sizesOf = (quick: boolean): Sizes =>
  quick ? { workers: [1, 2], warmS: 1, measuredS: 4 } : { workers: [1, 2, 4, 8], warmS: 2, measuredS: 10 };

interface Measured {
  /** Tasks per second. */
  readonly rate: number;
  /** Share of all cores that was busy. */
  readonly busy: number;
  /** CPU milliseconds per task; NaN when the system does not report them. */
  readonly workersMs: number;
  /** Like `workersMs`, for broker, Redis, fake model and this process. */
  readonly othersMs: number;
}

const classOf = (workers: number): string => `workers-${workers}`;
const nameOf = (workers: number): string => (workers === 1 ? '1 worker' : `${workers} workers`);

interface Bench {
  readonly board: TaskBoard;
  readonly fake: FakeModel;
  /** Process ids of broker, Redis, fake model and this process. */
  readonly others: readonly number[];
}

async function measure(
  { board, fake, others }: Bench,
  workers: number,
  pids: readonly number[],
  { warmS, measuredS }: Sizes,
): Promise<Measured> {
  const capacity = (workers * slots * 1_000) / latencyMs;
  const each = Math.ceil((capacity * (warmS + measuredS) * surplus) / partitions);
  const taskIds = evenTaskIds(classOf(workers), each, partitions);
  const callsBefore = await fake.calls();
  const arrivals: number[] = [];
  const outcomes = (await board.dispatch(classOf(workers), taskIds, latencyMs)).map((outcome) =>
    outcome.then(({ arrivedAt }) => void arrivals.push(arrivedAt)),
  );
  await Promise.race(outcomes);
  await delay(warmS * 1_000);
  const from = performance.now();
  const meter = new CpuMeter(pids);
  const otherMeter = new CpuMeter(others);
  await delay(measuredS * 1_000);
  const to = performance.now();
  const [busy, workersS, othersS] = [meter.busyShare(), meter.seconds(), otherMeter.seconds()];
  const left = taskIds.length - arrivals.length;
  await Promise.all(outcomes);
  if (left < workers * slots) throw new Error(`${nameOf(workers)} ran out of tasks while they were measured.`);
  const calls = (await fake.calls()) - callsBefore;
  if (calls !== taskIds.length) throw new Error(`${taskIds.length} tasks took ${calls} model calls; ${board.repeated} results came twice.`);
  const inside = arrivals.filter((at) => at >= from && at <= to).sort((a, b) => a - b);
  const rate = ((inside.length - 1) * 1_000) / (inside.at(-1)! - inside[0]!);
  const perTask = (seconds: number | null): number => (seconds === null ? Number.NaN : (seconds * 1_000) / inside.length);
  return { rate, busy, workersMs: perTask(workersS), othersMs: perTask(othersS) };
}

type Results = ReadonlyMap<string, readonly Measured[]>;

function tableOf(results: Results, workers: readonly number[]): Table {
  const cores = availableParallelism();
  return {
    title: 'By round:',
    columns: [
      'workers',
      'tasks/s',
      'their slots allow',
      'machine busy',
      'CPU ms per task: workers',
      'broker, Redis, model, bench',
      'machine full at about, tasks/s',
    ],
    rows: workers.map((n) => {
      const rounds = results.get(nameOf(n))!;
      const known = rounds.every(({ workersMs, othersMs }) => Number.isFinite(workersMs + othersMs));
      return [
        String(n),
        spread(rounds.map(({ rate }) => rate)),
        ((n * slots * 1_000) / latencyMs).toFixed(0),
        `${(median(rounds.map(({ busy }) => busy)) * 100).toFixed(0)} % of ${cores} cores`,
        known ? spread(rounds.map(({ workersMs }) => workersMs)) : 'not told',
        known ? spread(rounds.map(({ othersMs }) => othersMs)) : 'not told',
        known ? ((cores * 1_000) / median(rounds.map(({ workersMs, othersMs }) => workersMs + othersMs))).toFixed(0) : 'not told',
      ];
    }),
  };
}

function findingsOf(results: Results, workers: readonly number[]): readonly Finding[] {
  const one = results.get(nameOf(1))!.map(({ rate }) => rate);
  return workers.slice(1).map((n) => {
    const rounds = results.get(nameOf(n))!;
    const full = median(rounds.map(({ busy }) => busy)) >= fullAt;
    return {
      what: `${nameOf(n)}: efficiency (tasks/s per worker)${full ? '; THE MACHINE IS FULL' : ''}`,
      reference: '1 worker',
      value: spread(
        paired(
          rounds.map(({ rate }) => rate),
          one,
          (many, single) => many / (n * single),
        ),
      ),
      unit: 'x' as const,
      target: full ? null : { atLeast: 0.9 },
    };
  });
}

export const throughputByWorkers: Benchmark = {
  id: 'B4',
  title: 'how the experts scale with their workers, over real Kafka',
  obstacle: storesObstacle,
  async run({ quick, progress, profile, rounds = quick ? 1 : 4 }: BenchmarkOptions): Promise<Report> {
    const closing = new Closing();
    const sizes = sizesOf(quick);
    const { workers } = sizes;
    try {
      const scratch = new Scratch();
      closing.add(() => scratch.remove());
      progress('starting Kafka, Redis and the workers');
      const fake = await FakeModel.start();
      closing.add(() => fake.close());
      const stores = await startStores(closing);
      const task_classes = Object.fromEntries(workers.map((n) => [classOf(n), { concurrency: slots }]));
      const home = scratch.home('b4', configuration(fake.url, { ...stores.configuration('b4', partitions), task_classes }));
      const alone = await startServices({ CONCLAVE_HOME: home, FAKE_MODEL_KEY: 'bench' }, home, 'gateway', []);
      closing.add(() => alone.close());
      const pids = new Map<number, readonly number[]>();
      for (const n of workers) {
        const env = { WORKER_CLASSES: classOf(n) };
        const launches = Array.from({ length: n }, () => launch({ app: 'experts', home, portName: 'ADMIN_PORT', closing, profile, env }));
        await Promise.allSettled(launches);
        pids.set(
          n,
          (await Promise.all(launches)).map(({ pid }: Launched) => pid),
        );
      }
      const others = [process.pid, fake.pid, ...stores.pids];
      const board = await TaskBoard.open(alone.ports.log);
      closing.add(() => board.close());
      const results = await interleave(
        workers.map((n) => ({ name: nameOf(n), measure: () => measure({ board, fake, others }, n, pids.get(n)!, sizes) })),
        rounds,
        progress,
      );
      return {
        definition: [
          `A fake model server (own process) answers every call after ${latencyMs} ms. Workers are processes of apps/experts with ${slots} slots each, every group of them`,
          `(${workers.join(', ')}) on its own task class and consumer group; all run all the time, and one group at a time has work.`,
          `More tasks than they can finish are put on the class's topic at once, evenly over its ${partitions} partitions; tasks/s are counted from results.ready for ${sizes.measuredS} s,`,
          `beginning ${sizes.warmS} s after the first result. Efficiency = tasks/s per worker / tasks/s of one worker in the same round.`,
          "Every task is checked to take one model call; results that come twice are counted (delivery is at least once). Broker and Redis (appendfsync always) are the benchmark's own and on the same machine.",
        ],
        tables: [tableOf(results, workers)],
        findings: findingsOf(results, workers),
        notes: [
          `${board.repeated} results came more than once.`,
          `A machine that is at least ${fullAt * 100} % busy (with whatever else runs on it) limits the workers, so no target is judged there. "Machine full at" is the rate at which its cores would be fully used if nothing else ran on them.`,
        ],
      };
    } finally {
      await closing.run();
    }
  },
};
