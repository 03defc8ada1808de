import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Supervised } from '@conclave/test-support';
import { freePorts } from '@conclave/test-support/system';
import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { interleave } from '../measuring/interleave.js';
import type { Finding, Report } from '../measuring/report.js';
import { quantile, ratios, spread } from '../measuring/statistics.js';
import { ProbedProcess, probeFlags } from '../memory-over-time/probed-process.js';
import { FakeModel } from '../model-server/fake-model.js';
import { tokensIn } from '../model-server/protocol.js';
import { streamChat } from '../model-server/streaming-client.js';
import { Closing } from '../processes/closing.js';
import { liveTemplate, startEmbedded } from '../processes/product.js';
import { Scratch } from '../processes/scratch.js';
import { Viewers } from './viewers.js';

interface Order {
  readonly viewers: number;
  readonly runs: number;
  readonly chats: number;
}
const orderOf = (quick: boolean): Order => (quick ? { viewers: 200, runs: 5, chats: 10 } : { viewers: 5_000, runs: 50, chats: 200 });

const answer = { firstTokenMs: 20, gapMs: 500, tokens: 40, hang: null } as const;
/** Viewers that warm a process up, because code compiled and caches filled for the first ones belong to no viewer. */
const warmUpViewers = 100;
/** A heartbeat comes after ten seconds of silence. */
const heartbeatWithinMs = 60_000;
const endWithinMs = 120_000;

/** One round of one side. */
interface Sample {
  /** Kilobytes of resident memory, after a collection, that each viewer adds. */
  readonly rssKb: number;
  /** Kilobytes of live heap, and of external memory that the heap holds. */
  readonly heapKb: number;
  /** Milliseconds between two arrivals of a chat, p99; null for Express, which answers no chats. */
  readonly gapMs: number | null;
}

const ours = 'Conclave embedded';
const bare = 'Express alone';

export const openStreams: Benchmark = {
  id: 'B7',
  title: 'memory of open event streams, and chats beside them',
  obstacle: async () => null,
  async run({ quick, progress, rounds = quick ? 1 : 3 }: BenchmarkOptions): Promise<Report> {
    const order = orderOf(quick);
    const results = await interleave(
      [
        { name: ours, measure: () => measureProduct(order, progress) },
        { name: bare, measure: () => measureExpress(order) },
      ],
      rounds,
      progress,
    );
    const [mine, theirs] = [results.get(ours)!, results.get(bare)!];
    const rss = (samples: readonly Sample[]): readonly number[] => samples.map(({ rssKb }) => rssKb);
    const findings: readonly Finding[] = [
      {
        what: 'resident memory of a viewer',
        reference: bare,
        value: spread(ratios(rss(mine), rss(theirs))),
        unit: 'x',
        target: { atMost: 1.5 },
      },
      {
        what: `gap between chunks of ${order.chats} chats beside ${order.viewers} viewers, p99, above the ${answer.gapMs} ms of the model`,
        reference: 'the model',
        value: spread(mine.map(({ gapMs }) => gapMs! - answer.gapMs)),
        unit: 'ms',
        target: null,
      },
    ];
    return {
      definition: [
        `${order.runs} runs wait for a model; ${order.viewers} clients, each on a connection of its own, read GET /v1/runs/{id}/events of them. Then ${order.chats} chats are streamed beside them, ${answer.tokens} tokens each, one every ${answer.gapMs} ms.`,
        'Memory of a viewer: resident memory after two collections with all viewers open, less that with 100 of them, by viewer. Every process is started anew for each round.',
        'The benchmark fails unless each chat receives all its tokens in order, and each viewer reads a heartbeat after the chats and the end of its run when the runs are cancelled.',
        `${bare}: the same viewers read a first event of the same size and a comment every ten seconds from an app of Express.`,
      ],
      tables: [
        {
          title: 'Kilobytes of a viewer, by round:',
          columns: ['side', 'resident', 'heap and what it holds outside'],
          rows: [...results].map(([name, samples]) => [name, spread(rss(samples)), spread(samples.map(({ heapKb }) => heapKb))]),
        },
      ],
      findings,
      notes: [],
    };
  },
};

/** Bytes that each viewer of ours read at first, so that Express can send as many; our side is measured first. */
let firstBytes = 0;

async function measureProduct(order: Order, progress: (text: string) => void): Promise<Sample> {
  const closing = new Closing();
  try {
    const scratch = new Scratch();
    closing.add(() => scratch.remove());
    const [waiting, talking] = await Promise.all([FakeModel.start(), FakeModel.start()]);
    closing.add(() => Promise.all([waiting.close(), talking.close()]));
    await waiting.schedule({ ...answer, hang: 'expert' });
    await talking.schedule(answer);
    const file = join(scratch.folder, 'memory.ndjson');
    const provider = (url: string) => ({ base_url: url, api_key_env: 'FAKE_MODEL_KEY', paid: false, max_concurrency: 500, timeout_s: 600 });
    const product = await startEmbedded({
      ...{ modelUrl: waiting.url, scratch, closing, flags: probeFlags, envOf: () => ({ MEMORY_FILE: file }) },
      settings: {
        providers: { fake: provider(waiting.url), talking: provider(talking.url) },
        gateway: { max_open_runs: order.runs + order.chats, max_direct_calls: order.chats, max_event_streams: order.viewers },
      },
    });
    const memory = new ProbedProcess(ours, product.processes[0]!.pid, file);
    const ids = await Promise.all(Array.from({ length: order.runs }, (_, n) => startRun(product.url, n)));
    const viewers = new Viewers();
    closing.add(() => viewers.close());
    const urls = ids.map((id) => new URL(`${product.url}/runs/${id}/events`));
    const used = await memoryOf(memory, viewers, urls, order);
    firstBytes = Math.round(viewers.meanBytes);
    progress(`${order.chats} chats beside ${order.viewers} viewers`);
    const gaps = await Promise.all(Array.from({ length: order.chats }, (_, n) => chat(product.url, n)));
    await viewers.until(': keep-alive', order.viewers, heartbeatWithinMs);
    if (viewers.stillOpen < order.viewers) throw new Error(`${order.viewers - viewers.stillOpen} viewers lost their stream.`);
    await Promise.all(ids.map((id) => cancel(product.url, id)));
    await viewers.until('event: run.completed', order.viewers, endWithinMs);
    return { ...used, gapMs: quantile(gaps.flat(), 0.99) };
  } finally {
    await closing.run();
  }
}

async function measureExpress(order: Order): Promise<Sample> {
  const closing = new Closing();
  try {
    const scratch = new Scratch();
    closing.add(() => scratch.remove());
    const file = join(scratch.folder, 'memory.ndjson');
    const port = (await freePorts(1))[0]!;
    const running = await Supervised.start({
      name: bare,
      args: [...probeFlags, fileURLToPath(new URL('./express-worker.js', import.meta.url))],
      env: { PORT: String(port), MEMORY_FILE: file, FIRST_EVENT_BYTES: String(firstBytes), NODE_ENV: 'production' },
      ready: `http://127.0.0.1:${port}/ready`,
    });
    closing.add(() => running.stop(10_000));
    const viewers = new Viewers();
    closing.add(() => viewers.close());
    const urls = [new URL(`http://127.0.0.1:${port}/events`)];
    return { ...(await memoryOf(new ProbedProcess(bare, running.pid!, file), viewers, urls, order)), gapMs: null };
  } finally {
    await closing.run();
  }
}

/** Opens all viewers, and returns what each viewer after the first hundred adds. */
async function memoryOf(
  memory: ProbedProcess,
  viewers: Viewers,
  urls: readonly URL[],
  order: Order,
): Promise<Pick<Sample, 'rssKb' | 'heapKb'>> {
  await viewers.open(urls, warmUpViewers);
  await memory.note();
  const before = await memory.note();
  const added = order.viewers - warmUpViewers;
  await viewers.open(urls, added);
  // The first reading collects the garbage of opening; the second one reads the memory after that.
  await memory.note();
  const after = await memory.note();
  const each = (bytes: number): number => bytes / added / 1_000;
  return { rssKb: each(after.rss - before.rss), heapKb: each(after.heap + after.external - before.heap - before.external) };
}

const headers = { 'content-type': 'application/json', authorization: 'Bearer bench' };

async function startRun(url: string, n: number): Promise<string> {
  const body = JSON.stringify({ model: liveTemplate, messages: [{ role: 'user', content: `What is question ${n} about?` }] });
  const response = await fetch(`${url}/runs`, { method: 'POST', headers, body });
  if (response.status !== 202) throw new Error(`${response.status} instead of a run: ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}

async function cancel(url: string, id: string): Promise<void> {
  const response = await fetch(`${url}/runs/${id}/commands`, { method: 'POST', headers, body: JSON.stringify({ command: 'cancel' }) });
  if (!response.ok) throw new Error(`${response.status} instead of a cancelled run: ${await response.text()}`);
}

/** Milliseconds between arrivals of one streamed chat. Throws if a token is lost, doubled or out of order. */
async function chat(url: string, n: number): Promise<readonly number[]> {
  const { arrivals } = await streamChat({ url, model: 'scripted@talking', prompt: `Say something about ${n}.`, withinMs: endWithinMs });
  const tokens = arrivals.flatMap(({ content }) => tokensIn(content));
  if (tokens.length !== answer.tokens || !tokens.every(({ index }, position) => index === position))
    throw new Error(`${tokens.length} tokens arrived where ${answer.tokens} were sent.`);
  return arrivals.slice(1).map(({ at }, index) => at - arrivals[index]!.at);
}
