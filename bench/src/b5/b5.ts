import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { startServices } from '../committee/services.js';
import { interleave } from '../measuring/interleave.js';
import type { Report } from '../measuring/report.js';
import { median, quantile, ratios, spread } from '../measuring/statistics.js';
import { FakeModel } from '../model-server/fake-model.js';
import { Closing } from '../processes/closing.js';
import { configuration, launch } from '../processes/product.js';
import { Scratch } from '../processes/scratch.js';
import { startStores, storesObstacle } from '../processes/stores.js';
import { newTaskIds, TaskBoard, type TaskOutcome } from '../tasks/task-board.js';

const shortMs = 50;
const longTasks = 4;
const slots = 16;
/** Milliseconds between two short tasks: about one of them runs at any time. */
const everyMs = 50;
const taskClass = 'mixed';
const alone = 'short tasks alone';
const among = 'short tasks among long ones';

interface Sizes {
  readonly longMs: number;
  /** Seconds of the rounds without long tasks; those with them take as long as the tasks. */
  readonly aloneS: number;
}
const sizesOf = (quick: boolean): Sizes => (quick ? { longMs: 20_000, aloneS: 20 } : { longMs: 120_000, aloneS: 120 });
/** The round that warms up is short. */
const warmUp: Sizes = { longMs: 5_000, aloneS: 5 };

/** Puts short tasks on the log at a steady pace and gives how long each took, from `publish` to its result, in milliseconds. */
async function pace(board: TaskBoard, forMs: number): Promise<readonly number[]> {
  const from = performance.now();
  const publishing: Promise<readonly Promise<TaskOutcome>[]>[] = [];
  for (let n = 0; n * everyMs < forMs; n += 1) {
    await delay(Math.max(0, from + n * everyMs - performance.now()));
    publishing.push(board.dispatch(taskClass, newTaskIds(1), shortMs));
  }
  const outcomes = await Promise.all((await Promise.all(publishing)).flat());
  return outcomes.map(({ publishedAt, arrivedAt }) => arrivedAt - publishedAt);
}

async function amongLong(board: TaskBoard, longMs: number): Promise<readonly number[]> {
  const long = await board.dispatch(taskClass, newTaskIds(longTasks), longMs);
  // Short tasks that are published while all of the long ones run.
  const taken = await pace(board, longMs - 2_000);
  for (const { publishedAt, arrivedAt } of await Promise.all(long))
    if (arrivedAt - publishedAt < longMs) throw new Error(`A task of ${longMs} ms took ${arrivedAt - publishedAt} ms.`);
  return taken;
}

/** The measured work, with the number of model calls checked. */
const counted = (board: TaskBoard, fake: FakeModel, work: () => Promise<readonly number[]>, others: number) => async () => {
  const before = await fake.calls();
  const taken = await work();
  const calls = (await fake.calls()) - before;
  if (calls !== taken.length + others || board.repeated > 0)
    throw new Error(`${taken.length + others} tasks took ${calls} model calls; ${board.repeated} results came twice.`);
  return taken;
};

export const b5: Benchmark = {
  id: 'B5',
  title: 'short tasks behind long ones on one partition, over real Kafka',
  obstacle: storesObstacle,
  async run({ quick, progress, profile, rounds = quick ? 1 : 3 }: BenchmarkOptions): Promise<Report> {
    const closing = new Closing();
    const sizes = sizesOf(quick);
    try {
      const scratch = new Scratch();
      closing.add(() => scratch.remove());
      progress('starting Kafka, Redis and a worker');
      const fake = await FakeModel.start();
      closing.add(() => fake.close());
      const stores = await startStores(closing);
      const task_classes = { [taskClass]: { concurrency: slots } };
      const home = scratch.home('b5', configuration(fake.url, { ...stores.configuration('b5', 1), task_classes }));
      const services = await startServices({ CONCLAVE_HOME: home, FAKE_MODEL_KEY: 'bench' }, home, 'gateway', []);
      closing.add(() => services.close());
      await launch({ app: 'experts', home, portName: 'ADMIN_PORT', closing, profile, env: { WORKER_CLASSES: taskClass } });
      const board = await TaskBoard.open(services.ports.log);
      closing.add(() => board.close());
      const of = (round: number): Sizes => (round === 0 ? warmUp : sizes);
      const results = await interleave(
        [
          { name: alone, measure: (round) => counted(board, fake, () => pace(board, of(round).aloneS * 1_000), 0)() },
          { name: among, measure: (round) => counted(board, fake, () => amongLong(board, of(round).longMs), longTasks)() },
        ],
        rounds,
        progress,
      );
      const at = (name: string, q: number): readonly number[] => results.get(name)!.map((round) => quantile(round, q));
      return {
        definition: [
          `One worker process of apps/experts with ${slots} slots; the topic of its class has one partition. A short task every ${everyMs} ms, on which the fake model works ${shortMs} ms,`,
          `for ${sizes.aloneS} s alone, and while ${longTasks} tasks of ${sizes.longMs / 1_000} s that came before them run.`,
          'Measured from publishing a short task to its result on results.ready. Every task is checked to take one model call and one result.',
          "Broker and Redis (appendfsync always) are the benchmark's own and on the same machine.",
        ],
        tables: [
          {
            title: 'Milliseconds of short tasks, by round:',
            columns: ['what', 'p50', 'p99', 'longest', 'tasks'],
            rows: [alone, among].map((name) => {
              const all = results.get(name)!;
              return [name, spread(all.map(median)), spread(at(name, 0.99)), Math.max(...all.flat()).toFixed(1), String(all.flat().length)];
            }),
          },
        ],
        findings: [
          {
            what: `${among}, p99`,
            reference: `${alone}, p99`,
            value: spread(ratios(at(among, 0.99), at(alone, 0.99))),
            unit: 'x',
            target: { atMost: 1.2 },
          },
          {
            what: `${among}, p50`,
            reference: `${alone}, p50`,
            value: spread(ratios(at(among, 0.5), at(alone, 0.5))),
            unit: 'x',
            target: null,
          },
        ],
        notes: [],
      };
    } finally {
      await closing.run();
    }
  },
};
