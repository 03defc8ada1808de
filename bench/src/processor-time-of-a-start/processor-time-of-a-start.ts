import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { cpuSecondsOf } from '../measuring/cpu.js';
import { interleave, type Subject } from '../measuring/interleave.js';
import type { Finding, Report } from '../measuring/report.js';
import { spread } from '../measuring/statistics.js';
import { FakeModel } from '../model-server/fake-model.js';
import { Closing } from '../processes/closing.js';
import { configuration, launch, portNameOf, services } from '../processes/product.js';
import { Scratch } from '../processes/scratch.js';
import { startStores, storesObstacle } from '../processes/stores.js';

const targetMs = 600;
/** The last log line of a start. Polling the process instead would add to its CPU time. */
const saysReady = /"Ready\."| Ready\./;
const emptyProcess = 'an empty process of Node';
const emptyWithinMs = 20_000;

/** Milliseconds of processor time of a process that does nothing. */
async function emptyStart(): Promise<number> {
  const code = 'const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1_000));';
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', code], { timeout: emptyWithinMs });
  return Number(stdout);
}

export const processorTimeOfAStart: Benchmark = {
  id: 'B13',
  title: 'processor time of a start, distributed',
  obstacle: async () => storesObstacle(),
  async run({ quick, progress, profile, rounds = quick ? 1 : 7 }: BenchmarkOptions): Promise<Report> {
    const closing = new Closing();
    try {
      const scratch = new Scratch();
      closing.add(() => scratch.remove());
      const model = await FakeModel.start();
      closing.add(() => model.close());
      const stores = await startStores(closing);
      const home = scratch.home('distributed', configuration(model.url, stores.configuration('product')));
      const start = (app: string): Subject<number> => ({
        name: app,
        measure: async () => {
          const ending = new Closing();
          try {
            const { pid } = await launch({ app, home, portName: portNameOf(app), closing: ending, profile, ready: saysReady });
            const seconds = cpuSecondsOf(pid);
            if (seconds === null) throw new Error('This system does not report the processor time of a process.');
            return seconds * 1_000;
          } finally {
            await ending.run();
          }
        },
      });
      const results = await interleave([{ name: emptyProcess, measure: emptyStart }, ...services.map(start)], rounds, progress);
      const least = (name: string): number => Math.min(...results.get(name)!);
      return {
        definition: [
          'User and system time of a process, all its threads, from its start until its log says `Ready.`, when `/health/ready` also returns 200. One service at a time, with',
          "shipped settings and one model server, on a broker and a Redis of the benchmark's own; the first start of each, which creates the topics, is discarded.",
          'The lowest value of all rounds is judged, because other work of the machine can only add to it.',
        ],
        tables: [
          {
            title: 'Milliseconds of processor time, by round:',
            columns: ['process', 'median', 'least'],
            rows: [...results].map(([name, times]) => [name, spread(times), least(name).toFixed(0)]),
          },
        ],
        findings: services.map((name): Finding => ({
          what: `${name}: processor time until it is ready, the lowest of ${rounds}`,
          reference: emptyProcess,
          value: spread([least(name)]),
          unit: 'ms',
          ratio: spread([least(name) / least(emptyProcess)]),
          target: { atMost: targetMs },
        })),
        notes: [],
      };
    } finally {
      await closing.run();
    }
  },
};
