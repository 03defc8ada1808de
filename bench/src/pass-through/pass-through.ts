import type { Benchmark, BenchmarkOptions } from '../benchmark.js';
import { interleave, type Subject } from '../measuring/interleave.js';
import type { Finding, Report, Table } from '../measuring/report.js';
import { differences, median, paired, ratios, spread } from '../measuring/statistics.js';
import { FakeModel } from '../model-server/fake-model.js';
import { unstreamedAnswer } from '../model-server/schedule.js';
import { UnstreamedClient, type UnstreamedClientOptions } from '../model-server/unstreamed-client.js';
import { Closing } from '../processes/closing.js';
import { directModel, startEmbedded } from '../processes/product.js';
import { Scratch } from '../processes/scratch.js';
import { ensureLitellm, startLitellm } from './litellm.js';
import { ensurePortkey, portkeyHeaders, startPortkey } from './portkey.js';

interface Order {
  /** Requests one after the other. */
  readonly alone: number;
  /** Requests over `connections` at once. */
  readonly together: number;
  readonly connections: number;
}
const orderOf = (quick: boolean): Order =>
  quick ? { alone: 10, together: 50, connections: 10 } : { alone: 200, together: 2_000, connections: 50 };

/** One round of one gateway. */
interface Sample {
  /** Milliseconds of a single request, p50. */
  readonly aloneMs: number;
  readonly requestsPerSecond: number;
}

const direct = 'direct';
const ours = 'Conclave embedded';
const portkey = 'Portkey';
const litellm = 'LiteLLM';
/** LiteLLM receives this many times fewer concurrent requests; it would otherwise take most of the time of the benchmark. */
const fewerForLitellm = 5;

function subject(
  name: string,
  options: Omit<UnstreamedClientOptions, 'connections'>,
  { alone, together, connections }: Order,
): Subject<Sample> {
  return {
    name,
    measure: async () => {
      const client = new UnstreamedClient({ ...options, connections });
      try {
        const times: number[] = [];
        for (let n = 0; n < alone; n += 1) times.push(await client.ask(unstreamedAnswer));
        const from = performance.now();
        let left = together;
        const reader = async (): Promise<void> => {
          while (left > 0) {
            left -= 1;
            await client.ask(unstreamedAnswer);
          }
        };
        await Promise.all(Array.from({ length: connections }, reader));
        return { aloneMs: median(times), requestsPerSecond: together / ((performance.now() - from) / 1000) };
      } finally {
        client.close();
      }
    },
  };
}

type Results = ReadonlyMap<string, readonly Sample[]>;
const aloneOf = (rounds: readonly Sample[]): readonly number[] => rounds.map(({ aloneMs }) => aloneMs);
const rateOf = (rounds: readonly Sample[]): readonly number[] => rounds.map(({ requestsPerSecond }) => requestsPerSecond);

function tableOf(results: Results, { connections }: Order): Table {
  return {
    title: 'By round:',
    columns: ['way', 'ms of a request alone, p50', `requests/s over ${connections} connections`],
    rows: [...results].map(([name, rounds]) => [name, spread(aloneOf(rounds)), spread(rateOf(rounds))]),
  };
}

function findingsOf(results: Results): readonly Finding[] {
  const base = results.get(direct)!;
  const mine = results.get(ours)!;
  const added = (rounds: readonly Sample[]): readonly number[] => differences(aloneOf(rounds), aloneOf(base));
  const alone: Finding = {
    what: 'latency added to a request alone, p50',
    reference: direct,
    value: spread(added(mine)),
    unit: 'ms',
    ratio: spread(ratios(aloneOf(mine), aloneOf(base))),
    target: null,
  };
  /** LiteLLM is measured for comparison only; the targets are relative to Portkey. */
  const against = (name: string, isTarget: boolean): readonly Finding[] => {
    const theirs = results.get(name);
    if (!theirs) return [];
    return [
      {
        what: 'latency added to a request alone, p50',
        reference: `what ${name} adds`,
        value: spread(paired(added(mine), added(theirs), (a, b) => a / b)),
        unit: 'x',
        target: isTarget ? { atMost: 1 } : null,
      },
      {
        what: 'requests per second',
        reference: name,
        value: spread(ratios(rateOf(mine), rateOf(theirs))),
        unit: 'x',
        target: isTarget ? { atLeast: 1 } : null,
      },
    ];
  };
  return [alone, ...against(portkey, true), ...against(litellm, false)];
}

export const passThrough: Benchmark = {
  id: 'B1',
  title: 'pass-through of unstreamed chat requests of 1 KB, embedded, beside the gateways of Portkey and LiteLLM',
  obstacle: async () => null,
  async run({ quick, progress, profile, rounds = quick ? 1 : 7 }: BenchmarkOptions): Promise<Report> {
    const missing = await ensurePortkey({ mayInstall: !quick, progress });
    const python = await ensureLitellm({ mayInstall: !quick, progress });
    const order = orderOf(quick);
    const closing = new Closing();
    try {
      const scratch = new Scratch();
      closing.add(() => scratch.remove());
      const model = await FakeModel.start();
      closing.add(() => model.close());
      const product = await startEmbedded({ modelUrl: model.url, scratch, closing, profile });
      const subjects = [
        subject(direct, { url: model.url, model: 'scripted' }, order),
        subject(ours, { url: product.url, model: directModel }, order),
      ];
      if (missing === null) {
        const { url } = await startPortkey(closing);
        subjects.push(subject(portkey, { url, model: 'scripted', headers: portkeyHeaders(model.url) }, order));
      }
      if ('python' in python) {
        const proxy = await startLitellm(python.python, { modelUrl: model.url, model: 'scripted', scratch, closing });
        const fewer = { ...order, together: order.together / fewerForLitellm };
        subjects.push(subject(litellm, { ...proxy, model: 'scripted' }, fewer));
      }
      const results = await interleave(subjects, rounds, progress);
      return {
        definition: [
          'A fake model server (own process) answers each request at once, with 1 KB. The same client asks it directly and through each gateway, over connections that stay open:',
          `${order.alone} requests one after the other, then ${order.together} over ${order.connections} connections. Each answer is compared with the model's.`,
          `${ours} is the standalone app with its SQLite file and shipped settings, so that each call is on the audit; ${portkey} (@portkey-ai/gateway) is started without its console and stores nothing;`,
          `${litellm} is its proxy in Python with one worker, a key and no database; it gets a fifth of the requests over ${order.connections} connections.`,
        ],
        tables: [tableOf(results, order)],
        findings: findingsOf(results),
        notes: [...(missing === null ? [] : [missing]), ...('missing' in python ? [python.missing] : [])],
      };
    } finally {
      await closing.run();
    }
  },
};
