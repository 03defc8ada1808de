import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { interleave, type Subject } from '../measuring/interleave.js';
import type { Finding, Report } from '../measuring/report.js';
import { differences, median, quantile, ratios, spread } from '../measuring/statistics.js';
import { FakeModel } from '../model-server/fake-model.js';
import type { Schedule } from '../model-server/schedule.js';
import { Closing } from '../processes/closing.js';
import { liveTemplate, startEmbedded } from '../processes/product.js';
import { Scratch } from '../processes/scratch.js';

const schedule: Schedule = { firstTokenMs: 50, gapMs: 5, tokens: 20, hang: null };
/** Requests per round for each kind of hit; `runsPerRound`: for each kind of full run. */
const hitsPerRound = 30;
const runsPerRound = 4;
const learnedWithinMs = 20_000;
/** Milliseconds until the meaning of a question is learned, after its exact words. */
const learnedAfterMs = 500;

const asked = 'How do I reset my password?';
/** Paraphrases, tried one after the other until a cache answers one: a paraphrase that is asked too early becomes an entry itself. */
const inOtherWords = ['How can I reset my password?', 'How could I reset my password?', 'How do I properly reset my password?'];

const fullRun = 'full run';
const optedOut = 'full run without caches';
const exact = 'exact hit';
const streamed = 'exact hit, streamed';
const semantic = 'semantic hit';
const backToBack = 'exact hit, without a pause';

interface Answered {
  /** From the request to the last byte of the answer, in milliseconds. */
  readonly ms: number;
  /** Response header that names the cache that answered, or null. */
  readonly cache: string | null;
  readonly runId: string;
}

interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream?: boolean;
}

/** One keep-alive connection; `fetch` alone would take as long as a hit may take. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

async function ask(url: string, content: string, { headers = {}, stream = false }: Asking = {}): Promise<Answered> {
  const body = JSON.stringify({ model: liveTemplate, stream, messages: [{ role: 'user', content }] });
  const from = performance.now();
  const sent = request(`${url}/chat/completions`, {
    ...{ method: 'POST', agent },
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const text = await textOf(response);
  const ms = performance.now() - from;
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} instead of an answer: ${text.slice(0, 500)}`);
  const header = (name: string): string | null => (response.headers[name] as string | undefined) ?? null;
  return { ms, cache: header('x-conclave-cache'), runId: header('x-run-id')! };
}

/** Like `ask`, then waits, untimed, until the run is recorded, so that the next request meets an idle process. */
async function askAlone(url: string, content: string, asking?: Asking): Promise<Answered> {
  const answered = await ask(url, content, asking);
  const run = (await (await fetch(`${url}/runs/${answered.runId}`)).json()) as { outcome: string | null };
  if (run.outcome !== 'completed') throw new Error(`The record of ${answered.runId} says "${run.outcome}".`);
  return answered;
}

/** Measures milliseconds per request; throws if a request was answered in another way than this subject expects. */
const subject = (
  name: string,
  requests: number,
  one: (round: number, n: number) => Promise<Answered>,
  cache: string | null,
): Subject<readonly number[]> => ({
  name,
  measure: async (round) => {
    const times: number[] = [];
    for (let n = 0; n < requests; n += 1) {
      const answered = await one(round, n);
      if ((answered.cache?.split(';')[0] ?? null) !== cache)
        throw new Error(`A request of "${name}" was answered by ${answered.cache ?? 'a run'}.`);
      times.push(answered.ms);
    }
    return times;
  },
});

/** Waits until the question is answered from the caches, and returns a paraphrase that is: learning follows the answer. */
async function learned(url: string): Promise<string> {
  await ask(url, asked);
  const until = performance.now() + learnedWithinMs;
  while ((await ask(url, asked)).cache !== 'exact') {
    if (performance.now() > until) throw new Error(`After ${learnedWithinMs} ms the same question is not answered from memory.`);
    await delay(50);
  }
  for (const wording of inOtherWords) {
    await delay(learnedAfterMs);
    if ((await ask(url, wording)).cache?.startsWith('semantic')) return wording;
  }
  throw new Error('No other wording is answered from memory.');
}

export const answerFromCache: Benchmark = {
  id: 'B9',
  title: 'answers of the caches against full runs, embedded',
  obstacle: async () => null,
  async run({ quick, progress, profile, rounds = quick ? 1 : 9 }: BenchmarkOptions): Promise<Report> {
    const closing = new Closing();
    try {
      const scratch = new Scratch();
      closing.add(() => scratch.remove());
      const model = await FakeModel.start();
      closing.add(() => model.close());
      await model.schedule(schedule);
      closing.add(() => agent.destroy());
      const { url } = await startEmbedded({ modelUrl: model.url, scratch, closing, profile, answersFromMemory: true });
      const reworded = await learned(url);
      const runs = quick ? 1 : runsPerRound;
      const before = await model.calls();
      await ask(url, 'Compare the first page of the book with the last one and explain the differences.');
      const callsOfRun = (await model.calls()) - before;
      const fresh = (way: number) => (round: number, n: number) =>
        `Compare page ${(round * 1_000 + n) * 2 + way} of the book with the page before it and explain the differences.`;
      const results = await interleave(
        [
          subject(fullRun, runs, (round, n) => ask(url, fresh(0)(round, n)), null),
          subject(optedOut, runs, (round, n) => ask(url, fresh(1)(round, n), { headers: { 'x-conclave-cache': 'off' } }), null),
          subject(exact, hitsPerRound, () => askAlone(url, asked), 'exact'),
          subject(streamed, hitsPerRound, () => askAlone(url, asked, { stream: true }), 'exact'),
          subject(semantic, hitsPerRound, () => askAlone(url, reworded), 'semantic'),
          subject(backToBack, hitsPerRound, () => ask(url, asked), 'exact'),
        ],
        rounds,
        progress,
      );
      const mid = (way: string): readonly number[] => results.get(way)!.map((times) => median(times));
      const whole = (way: string, atMost: number | null): Finding => ({
        ...{
          what: `${way}: the whole request, no model time to take off`,
          reference: fullRun,
          unit: 'ms',
          target: atMost === null ? null : { atMost },
        },
        value: spread(mid(way)),
        ratio: spread(ratios(mid(way), mid(fullRun))),
      });
      return {
        definition: [
          `A fake model server (own process) sends its first token after ${schedule.firstTokenMs} ms and the next every ${schedule.gapMs} ms, ${schedule.tokens} in all. A full run makes ${callsOfRun} calls.`,
          `${hitsPerRound} requests a round of each kind of hit and ${runs} of each full run, one after the other, not streamed unless stated, timed from the request to the last byte. The standalone app on its SQLite`,
          'file with shipped settings and the built-in embedder; all caches on. Exact: the question that was answered before. Semantic: the same in other words. Full runs ask new questions.',
          'A hit calls no model, so what it adds is all of its time. Before the next hit the record of the last one is read, untimed, except for the hits without a pause. The header of each answer is checked: it must name the cache that the row names.',
        ],
        tables: [
          {
            title: 'Milliseconds of a request, by round:',
            columns: ['way', 'p50', 'p95'],
            rows: [...results].map(([name, times]) => [name, spread(mid(name)), spread(times.map((round) => quantile(round, 0.95)))]),
          },
        ],
        findings: [
          whole(exact, 5),
          whole(streamed, 5),
          whole(semantic, 30),
          whole(backToBack, null),
          {
            ...{ what: 'lookups that find nothing: added to a full run', reference: optedOut, unit: 'ms', target: null },
            value: spread(differences(mid(fullRun), mid(optedOut))),
            ratio: spread(ratios(mid(fullRun), mid(optedOut))),
          },
        ],
        notes: [],
      };
    } finally {
      await closing.run();
    }
  },
};
