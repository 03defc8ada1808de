import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { startServices } from '../committee/services.js';
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
/** Milliseconds between two short tasks of one class. */
const everyMs = 250;
/** Two classes, each with its own worker and topic; they take turns with the long tasks. */
const classes = ['left', 'right'] as const;
const alone = 'short tasks alone';
const among = 'short tasks among long ones';

interface Sizes {
  readonly longMs: number;
  readonly rounds: number;
}
const sizesOf = (quick: boolean): Sizes => (quick ? { longMs: 8_000, rounds: 2 } : { longMs: 120_000, rounds: 4 });
/** Length of the warm-up round in milliseconds. */
const warmUpMs = 5_000;

/** Milliseconds from `publish` of each short task to its result. */
interface Round {
  readonly [alone]: readonly number[];
  readonly [among]: readonly number[];
}

/** Publishes short tasks at a steady pace, alternating between the classes; returns how long they took, by class. */
async function pace(board: TaskBoard, forMs: number): Promise<readonly (readonly number[])[]> {
  const from = performance.now();
  const published: Promise<readonly Promise<TaskOutcome>[]>[][] = classes.map(() => []);
  const stepMs = everyMs / classes.length;
  for (let n = 0; n * stepMs < forMs; n += 1) {
    await delay(Math.max(0, from + n * stepMs - performance.now()));
    const turn = n % classes.length;
    published[turn]!.push(board.dispatch(classes[turn]!, newTaskIds(1), shortMs));
  }
  const outcomes = await Promise.all(published.map(async (one) => Promise.all((await Promise.all(one)).flat())));
  return outcomes.map((one) => one.map(({ publishedAt, arrivedAt }) => arrivedAt - publishedAt));
}

/** Short tasks on both classes while the long tasks of one class run. Throws unless each task made exactly one call. */
async function measure(board: TaskBoard, fake: FakeModel, longMs: number, round: number): Promise<Round> {
  const callsBefore = await fake.calls();
  const withLong = round % classes.length;
  const long = await board.dispatch(classes[withLong]!, newTaskIds(longTasks), longMs);
  const taken = await pace(board, longMs - 2_000);
  for (const { publishedAt, arrivedAt } of await Promise.all(long))
    if (arrivedAt - publishedAt < longMs) throw new Error(`A task of ${longMs} ms took ${arrivedAt - publishedAt} ms.`);
  const tasks = taken.flat().length + longTasks;
  const calls = (await fake.calls()) - callsBefore;
  if (calls !== tasks) throw new Error(`${tasks} tasks took ${calls} model calls; ${board.repeated} results came twice.`);
  return { [among]: taken[withLong]!, [alone]: taken[1 - withLong]! };
}

export const shortBesideLongTasks: Benchmark = {
  id: 'B5',
  title: 'short tasks behind long ones on one partition, over real Kafka',
  obstacle: storesObstacle,
  async run({ quick, progress, profile, rounds = sizesOf(quick).rounds }: BenchmarkOptions): Promise<Report> {
    const closing = new Closing();
    const { longMs } = sizesOf(quick);
    try {
      const scratch = new Scratch();
      closing.add(() => scratch.remove());
      progress('starting Kafka, Redis and two workers');
      const fake = await FakeModel.start();
      closing.add(() => fake.close());
      const stores = await startStores(closing);
      const task_classes = Object.fromEntries(classes.map((name) => [name, { concurrency: slots }]));
      const home = scratch.home('b5', configuration(fake.url, { ...stores.configuration('b5', 1), task_classes }));
      const services = await startServices({ CONCLAVE_HOME: home, FAKE_MODEL_KEY: 'bench' }, home, 'gateway', []);
      closing.add(() => services.close());
      for (const name of classes)
        await launch({ app: 'experts', home, portName: 'ADMIN_PORT', closing, profile, env: { WORKER_CLASSES: name } });
      const board = await TaskBoard.open(services.ports.log);
      closing.add(() => board.close());
      const results: Round[] = [];
      await measure(board, fake, warmUpMs, 1);
      for (let round = 0; round < rounds; round += 1) {
        progress(`round ${round + 1} of ${rounds}`);
        results.push(await measure(board, fake, longMs, round));
      }
      const by = (name: keyof Round, figure: (taken: readonly number[]) => number): readonly number[] =>
        results.map((round) => figure(round[name]));
      const p99 = (taken: readonly number[]): number => quantile(taken, 0.99);
      return {
        definition: [
          `Two equal worker processes of apps/experts with ${slots} slots, each on its own task class, whose topic has one partition. Each class gets a short task every ${everyMs} ms,`,
          `on which the fake model works ${shortMs} ms; one of them, in turn, first gets ${longTasks} tasks of ${longMs / 1_000} s, and short tasks are measured while those run.`,
          'So the short tasks alone are measured in the same seconds, on a worker that differs only in having no long tasks.',
          'The figure is the time from publishing a short task to its result on results.ready. Every task is checked to take one model call; results that come twice are counted (delivery is at least once).',
          "Broker and Redis (appendfsync always) are the benchmark's own and on the same machine.",
        ],
        tables: [
          {
            title: 'Milliseconds of short tasks, by round:',
            columns: ['what', 'p50', 'p99', 'longest', 'tasks'],
            rows: ([alone, among] as const).map((name) => {
              const all = results.flatMap((round) => round[name]);
              return [name, spread(by(name, median)), spread(by(name, p99)), Math.max(...all).toFixed(1), String(all.length)];
            }),
          },
        ],
        findings: [
          {
            what: `${among}, p99`,
            reference: `${alone}, p99`,
            value: spread(ratios(by(among, p99), by(alone, p99))),
            unit: 'x',
            target: { atMost: 1.2 },
          },
          {
            what: `${among}, p50`,
            reference: `${alone}, p50`,
            value: spread(ratios(by(among, median), by(alone, median))),
            unit: 'x',
            target: null,
          },
        ],
        notes: [`${board.repeated} results came more than once.`],
      };
    } finally {
      await closing.run();
    }
  },
};
