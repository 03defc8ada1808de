import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { interleave, type Subject } from '../measuring/interleave.js';
import type { Finding, Report, Table } from '../measuring/report.js';
import { differences, median, quantile, ratios, spread } from '../measuring/statistics.js';
import { FakeModel } from '../model-server/fake-model.js';
import { tokensIn } from '../model-server/protocol.js';
import type { Schedule } from '../model-server/schedule.js';
import { streamChat } from '../model-server/streaming-client.js';
import { Closing } from '../processes/closing.js';
import { directModel, liveTemplate, startEmbedded } from '../processes/product.js';
import { Scratch } from '../processes/scratch.js';

const schedule: Schedule = { firstTokenMs: 50, gapMs: 20, tokens: 40, hang: null };
/** Model calls before that of the answer: plan and expert. */
const callsBefore = 2;
const requestsPerRound = 6;

/** One streamed answer as its reader saw it, in milliseconds. */
interface Sample {
  /** From the request to the first answer text. */
  readonly firstMs: number;
  /** From the fake model's first token to its arrival. */
  readonly firstTokenOnWayMs: number;
  /** Between arrivals of answer text. */
  readonly gapsMs: readonly number[];
  /** For every token, from the model to the reader. */
  readonly onWayMs: readonly number[];
}

const direct = 'direct';
const passThrough = 'pass-through';
const synthesis = 'live synthesis';

async function sample(url: string, model: string): Promise<Sample> {
  const { sentAt, arrivals } = await streamChat({ url, model, prompt: 'Say something.' });
  const tokens = arrivals.flatMap(({ at, content }) => tokensIn(content).map((token) => ({ ...token, at })));
  const complete = tokens.length === schedule.tokens && tokens.every(({ index }, position) => index === position);
  if (!complete) throw new Error(`${tokens.length} tokens arrived where ${schedule.tokens} were sent: a token was lost, doubled or cut.`);
  const onWayMs = tokens.map(({ at, sentAt: left }) => at - left);
  return {
    firstMs: arrivals[0]!.at - sentAt,
    firstTokenOnWayMs: onWayMs[0]!,
    gapsMs: arrivals.slice(1).map(({ at }, index) => at - arrivals[index]!.at),
    onWayMs,
  };
}

const subject = (name: string, url: string, model: string, requests: number): Subject<readonly Sample[]> => ({
  name,
  measure: async () => {
    const samples: Sample[] = [];
    for (let n = 0; n < requests; n += 1) samples.push(await sample(url, model));
    return samples;
  },
});

type Results = ReadonlyMap<string, readonly (readonly Sample[])[]>;
const first = (round: readonly Sample[]): number => median(round.map(({ firstMs }) => firstMs));
const firstOnWay = (round: readonly Sample[]): number => median(round.map(({ firstTokenOnWayMs }) => firstTokenOnWayMs));
const gapAt =
  (q: number) =>
  (round: readonly Sample[]): number =>
    quantile(
      round.flatMap(({ gapsMs }) => gapsMs),
      q,
    );
const onWayAt =
  (q: number) =>
  (round: readonly Sample[]): number =>
    quantile(
      round.flatMap(({ onWayMs }) => onWayMs),
      q,
    );

function tableOf(results: Results): Table {
  const figures = [first, firstOnWay, gapAt(0.5), gapAt(0.99), onWayAt(0.5), onWayAt(0.99)];
  return {
    title: 'Milliseconds, by round:',
    columns: ['way', 'time to first token, p50', 'first token on its way, p50', 'gap p50', 'gap p99', 'token on its way, p50', 'p99'],
    rows: [...results].map(([name, rounds]) => [name, ...figures.map((figure) => spread(rounds.map(figure)))]),
  };
}

function findingsOf(results: Results): readonly Finding[] {
  const base = results.get(direct)!;
  const added = (what: string, way: string, figure: (round: readonly Sample[]) => number, atMost: number | null): Finding => {
    const ours = results.get(way)!.map(figure);
    const theirs = base.map(figure);
    const target = atMost === null ? null : { atMost };
    return {
      what: `${way}: ${what}`,
      reference: direct,
      value: spread(differences(ours, theirs)),
      unit: 'ms',
      ratio: spread(ratios(ours, theirs)),
      target,
    };
  };
  const beforeModel = results.get(synthesis)!.map((round) => first(round) - (callsBefore + 1) * schedule.firstTokenMs);
  return [
    added('time to first token added', passThrough, first, 5),
    added('time to first token added (from the model that writes the answer)', synthesis, firstOnWay, 5),
    added('gap added, p99', passThrough, gapAt(0.99), 50),
    added('gap added, p99', synthesis, gapAt(0.99), 50),
    {
      what: `${synthesis}: whole time to first token without the ${callsBefore + 1} x ${schedule.firstTokenMs} ms of its model calls`,
      reference: direct,
      value: spread(beforeModel),
      unit: 'ms',
      ratio: spread(
        ratios(
          beforeModel,
          base.map((round) => first(round) - schedule.firstTokenMs),
        ),
      ),
      target: null,
    },
  ];
}

export const timeToFirstToken: Benchmark = {
  id: 'B6',
  title: 'time to first token and gaps between chunks that the gateway adds, embedded',
  obstacle: async () => null,
  async run({ quick, progress, profile, rounds = quick ? 1 : 9 }: BenchmarkOptions): Promise<Report> {
    const closing = new Closing();
    try {
      const scratch = new Scratch();
      closing.add(() => scratch.remove());
      const model = await FakeModel.start();
      closing.add(() => model.close());
      await model.schedule(schedule);
      const product = await startEmbedded({ modelUrl: model.url, scratch, closing, profile });
      const requests = quick ? 2 : requestsPerRound;
      const results = await interleave(
        [
          subject(direct, model.url, 'scripted', requests),
          subject(passThrough, product.url, directModel, requests),
          subject(synthesis, product.url, liveTemplate, requests),
        ],
        rounds,
        progress,
      );
      return {
        definition: [
          `A fake model server (own process) sends its first token after ${schedule.firstTokenMs} ms and the next every ${schedule.gapMs} ms, ${schedule.tokens} in all; every token contains the time at which it was sent.`,
          `${requests} streamed requests a round each way, one after the other, read by the same client: ${direct} (no gateway), ${passThrough} (${directModel}),`,
          `and ${synthesis} (a run of the strategy single-pass: plan, one expert, answer). The gateway is the standalone app on its SQLite file, with shipped settings.`,
          'Added = figure of the row minus that of the direct requests, in the same round. Every answer is checked to have each token once and in order.',
        ],
        tables: [tableOf(results)],
        findings: findingsOf(results),
        notes: [],
      };
    } finally {
      await closing.run();
    }
  },
};
