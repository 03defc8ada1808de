import type { Mode } from '@conclave/contracts';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { interleave } from '../measuring/interleave.js';
import type { Finding, Report } from '../measuring/report.js';
import { median, quantile, ratios, resampledQuantile, spread } from '../measuring/statistics.js';
import { FakeModel } from '../model-server/fake-model.js';
import { Closing } from '../processes/closing.js';
import { directModel, liveTemplate, startDistributed, startEmbedded } from '../processes/product.js';
import { Scratch } from '../processes/scratch.js';
import { startStores, storesObstacle } from '../processes/stores.js';
import { monotonicMs } from '../model-server/protocol.js';
import type { ScriptedRole } from '../model-server/schedule.js';
import { streamChat } from '../model-server/streaming-client.js';

const direct = 'direct';
/** Milliseconds. */
const targets = { embedded: 50, distributed: 1_000 } as const;

const scenarios = (mode: Mode, url: string): readonly CancelScenario[] => [
  { name: `${mode}, pass-through`, url, model: directModel, during: 'direct' },
  { name: `${mode}, while the answer streams`, url, model: liveTemplate, during: 'composer' },
  { name: `${mode}, while an expert works`, url, model: liveTemplate, during: 'expert' },
];

async function samplesOf(fake: FakeModel, scenario: CancelScenario, samples: number): Promise<readonly number[]> {
  await fake.schedule({ firstTokenMs: 5, gapMs: 0, tokens: 1, hang: scenario.during });
  const taken: number[] = [];
  for (let n = 0; n < samples; n += 1) taken.push(await cancelSample(fake, scenario));
  return taken;
}

function findingOf(mode: Mode, name: string, results: ReadonlyMap<string, readonly (readonly number[])[]>): Finding {
  const rounds = results.get(name)!;
  return {
    what: `${name}: disconnect to upstream close, p99`,
    reference: `${direct} (medians)`,
    value: resampledQuantile(rounds.flat(), 0.99),
    resampled: true,
    unit: 'ms',
    ratio: spread(ratios(rounds.map(median), results.get(direct)!.map(median))),
    target: { atMost: targets[mode] },
  };
}

export const cancelToUpstream: Benchmark = {
  id: 'B8',
  title: "from a client's disconnect to the close of its model call",
  obstacle: async () => null,
  async run({ quick, embedded, progress, profile, rounds = quick ? 1 : 10 }: BenchmarkOptions): Promise<Report> {
    const closing = new Closing();
    const samples = quick ? 4 : 12;
    try {
      const scratch = new Scratch();
      closing.add(() => scratch.remove());
      const fake = await FakeModel.start();
      closing.add(() => fake.close());
      const options = { modelUrl: fake.url, scratch, closing, profile };
      const modes: [Mode, readonly CancelScenario[]][] = [['embedded', scenarios('embedded', (await startEmbedded(options)).url)]];
      const missing = embedded ? 'excluded by --embedded' : await storesObstacle();
      if (missing === null) {
        progress('starting Kafka, Redis and five services');
        modes.push(['distributed', scenarios('distributed', (await startDistributed(await startStores(closing), options)).url)]);
      }
      const all: readonly CancelScenario[] = [
        { name: direct, url: fake.url, model: 'scripted', during: 'direct' },
        ...modes.flatMap(([, some]) => some),
      ];
      const subjects = all.map((scenario) => ({ name: scenario.name, measure: () => samplesOf(fake, scenario, samples) }));
      const results = await interleave(subjects, rounds, progress);
      return {
        definition: [
          'A fake model server (own process) sends one token and then nothing. A client that reads a streamed answer closes its connection.',
          'The figure is the time until the model server sees the connection of that call closed. Direct: the client itself holds that connection.',
          `${samples} disconnects a round each way. Embedded: the standalone app. Distributed: gateway, planner, experts, merger, graph-ingest as processes over Kafka and Redis.`,
        ],
        tables: [
          {
            title: 'Milliseconds, over all samples:',
            columns: ['way', 'p50', 'p99', 'longest', 'samples'],
            rows: [...results].map(([name, taken]) => {
              const flat = taken.flat();
              return [name, resampledQuantile(flat, 0.5), resampledQuantile(flat, 0.99), Math.max(...flat).toFixed(2), String(flat.length)];
            }),
          },
        ],
        findings: modes.flatMap(([mode, some]) => some.map(({ name }) => findingOf(mode, name, results))),
        notes: [
          ...(missing === null ? [] : [`Distributed mode was not measured: ${missing}.`]),
          ...(samples * rounds < 100
            ? [
                `${samples * rounds} samples: a p99 of so few is close to the longest (${direct}: ${quantile(results.get(direct)!.flat(), 1).toFixed(2)} ms).`,
              ]
            : []),
        ],
      };
    } finally {
      await closing.run();
    }
  },
};

/** A moment at which a client disconnects: during the model call of the role `during`. */
interface CancelScenario {
  readonly name: string;
  /** Base URL with /v1. */
  readonly url: string;
  readonly model: string;
  readonly during: ScriptedRole;
}

let questions = 0;

/**
 * Milliseconds from the client's disconnect until the model server sees its connection closed. The call hangs after its first token,
 * so only the cancel can end it.
 */
async function cancelSample(fake: FakeModel, { url, model, during }: CancelScenario): Promise<number> {
  const mark = `mark-${(questions += 1)}-x`;
  fake.forget();
  const leave = new AbortController();
  let onContent: () => void = () => undefined;
  const shown = new Promise<void>((resolve) => (onContent = resolve));
  const streaming = streamChat({ url, model, prompt: `Answer ${mark} please.`, signal: leave.signal, onContent });
  const broken = streaming.then(
    () => {
      throw new Error('The answer ended although its model hangs.');
    },
    (error: unknown) => {
      if (!leave.signal.aborted) throw error;
    },
  );
  // Streamed calls are cut off at their first text; an expert's text is not streamed, so there the start of its call counts.
  const underWay = during === 'expert' ? fake.note('begun', during, mark) : shown;
  await Promise.race([underWay, broken]);
  const left = monotonicMs();
  leave.abort();
  await broken;
  return (await fake.note('closed', during, mark)).at - left;
}
