import { join } from 'node:path';
import type { Mode } from '@conclave/contracts';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import type { Finding, Report, Table } from '../measuring/report.js';
import { slopeOf, type Slope } from '../measuring/slope.js';
import { digits, median, spread } from '../measuring/statistics.js';
import { FakeModel } from '../model-server/fake-model.js';
import type { Schedule } from '../model-server/schedule.js';
import { Closing } from '../processes/closing.js';
import { startDistributed, startEmbedded, type Product } from '../processes/product.js';
import { Scratch } from '../processes/scratch.js';
import { startStores, storesObstacle } from '../processes/stores.js';
import type { MemoryNote } from './memory-probe.js';
import { ProbedProcess, probeFlags } from './probed-process.js';
import { soak, warmUpRuns, type Sample, type Soaked } from './soak.js';

const schedule: Schedule = { firstTokenMs: 20, gapMs: 5, tokens: 20, hang: null };
const load = { embedded: 4, distributed: 2 } as const;
const megabyte = 1e6;
/** Largest ratio of the last minute to the first that still counts as no growth. */
const noGrowth = 1.1;

const kinds = [
  ['heap', 'heap after a collection'],
  ['rss', 'RSS before the collection'],
] as const satisfies readonly (readonly [keyof MemoryNote, string])[];

/** Megabytes by minute. */
const series = (samples: readonly Sample[], kind: keyof MemoryNote) =>
  samples.map((sample) => ({ x: sample.at, y: sample[kind] / megabyte }));
const firstMinute = (samples: readonly Sample[]): readonly Sample[] => samples.filter(({ at }) => at < 1);
const lastMinute = (samples: readonly Sample[]): readonly Sample[] => samples.filter(({ at }) => at >= samples.at(-1)!.at - 1 && at >= 1);
const secondHalf = (samples: readonly Sample[]): readonly Sample[] => samples.filter(({ at }) => at >= samples.at(-1)!.at / 2);
const slopeAfter = (samples: readonly Sample[], kind: keyof MemoryNote): Slope =>
  slopeOf(
    series(
      samples.filter(({ at }) => at >= 1),
      kind,
    ),
  );
const slopeText = ({ perUnit, error }: Slope): string => `${perUnit < 0 ? '' : '+'}${perUnit.toFixed(3)} ± ${error.toFixed(3)}`;

function tableOf(mode: Mode, { samples }: Soaked): Table {
  return {
    title: `${mode}, megabytes:`,
    columns: ['process', 'what', 'first minute', 'last minute', 'MB a minute after the first (± standard error)', 'in the second half'],
    rows: [...samples].flatMap(([name, all]) =>
      kinds.map(([kind, what]) => [
        name,
        what,
        digits(median(firstMinute(all).map((sample) => sample[kind] / megabyte))),
        digits(median(lastMinute(all).map((sample) => sample[kind] / megabyte))),
        slopeText(slopeAfter(all, kind)),
        slopeText(slopeOf(series(secondHalf(all), kind))),
      ]),
    ),
  };
}

function findingsOf(mode: Mode, { samples }: Soaked): readonly Finding[] {
  return [...samples].map(([name, all]) => {
    const reference = median(firstMinute(all).map(({ heap }) => heap));
    return {
      what: `${mode}, ${name}: heap after a collection, last minute (${slopeText(slopeAfter(all, 'heap'))} MB a minute)`,
      reference: 'the first minute',
      value: spread(lastMinute(all).map(({ heap }) => heap / reference)),
      unit: 'x' as const,
      target: { atMost: noGrowth },
    };
  });
}

export const memoryOverTime: Benchmark = {
  id: 'B10',
  title: 'memory over a soak at a steady load',
  obstacle: async () => null,
  async run({ quick, embedded, progress, profile }: BenchmarkOptions): Promise<Report> {
    const minutes = quick ? 2 : 10;
    const everyMs = quick ? 5_000 : 10_000;
    const missing = embedded ? 'excluded by --embedded' : await storesObstacle();
    const modes: readonly Mode[] = missing === null ? ['embedded', 'distributed'] : ['embedded'];
    const soaked = new Map<Mode, Soaked>();
    for (const mode of modes) {
      const closing = new Closing();
      try {
        const scratch = new Scratch();
        closing.add(() => scratch.remove());
        const fake = await FakeModel.start();
        closing.add(() => fake.close());
        await fake.schedule(schedule);
        const fileOf = (app: string): string => join(scratch.folder, `${app}.memory.ndjson`);
        const envOf = (app: string) => ({ MEMORY_FILE: fileOf(app) });
        const options = { modelUrl: fake.url, scratch, closing, profile, flags: probeFlags, envOf };
        progress(`starting ${mode} mode`);
        const product: Product =
          mode === 'embedded' ? await startEmbedded(options) : await startDistributed(await startStores(closing), options);
        const processes = product.processes.map(({ app, pid }) => new ProbedProcess(app, pid, fileOf(app)));
        const tell = (text: string): void => progress(`${mode}: ${text}`);
        soaked.set(mode, await soak({ url: product.url, processes, runsPerSecond: load[mode], minutes, everyMs, progress: tell }));
      } finally {
        await closing.run();
      }
    }
    const done = [...soaked];
    return {
      definition: [
        `Streamed chats (single-pass: plan, one expert, answer of ${schedule.tokens} tokens; fake model in a process of its own) at a steady pace for ${minutes} minutes: ${done.map(([mode, { runs, skipped }]) => `${mode} ${load[mode]} a second, ${runs} runs${skipped > 0 ? `, ${skipped} left out because 16 were under way or the gateway was overloaded` : ''}`).join('; ')}.`,
        `Every ${everyMs / 1_000} s, when no run is under way, each process notes its RSS, then collects garbage twice, with time for finalizers between, and notes its live heap. The clock begins after ${warmUpRuns} runs.`,
        `Reference: the first minute. Slope: least squares over all samples after it. Growth of at most ${((noGrowth - 1) * 100).toFixed(0)} % from the first to the last minute counts as none.`,
      ],
      tables: done.map(([mode, one]) => tableOf(mode, one)),
      findings: done.flatMap(([mode, one]) => findingsOf(mode, one)),
      notes: [
        'Each process remembers the ids of its last 2,000 events and of its last 2,000 tasks of a class, to count none twice: that memory is bounded, and full after the warm-up.',
        ...(missing === null ? [] : [`Distributed mode was not measured: ${missing}.`]),
      ],
    };
  },
};
