import { until, type TcpProxy } from '@conclave/test-support';
import type { Manners } from '../world/committee.js';
import type { World } from '../world/world.js';
import { inFlight, notReady, pause, recoveryAfter, runsOf } from './measure.js';
import type { Scenario } from './scenario.js';

type Side = 'kafka' | 'redis' | 'model';

interface Harm {
  readonly name: string;
  readonly fault: string;
  /** Milliseconds it lasts, in the short form and in the long one. */
  readonly forMs: readonly [number, number];
  /** Longest time from the end of the fault to the end of the runs that it affected, in milliseconds. */
  readonly boundMs: number;
  /** How the committee behaves meanwhile; with calls of about a second if absent. */
  readonly manners?: Partial<Manners>;
  /** Starts the fault; returns the function that ends it. */
  begin(proxies: Readonly<Record<Side, TcpProxy>>): () => void;
}

const each = (proxies: Readonly<Record<Side, TcpProxy>>, poison: Parameters<TcpProxy['poison']>[0]) => {
  for (const proxy of Object.values(proxies)) proxy.poison(poison);
  return () => {
    for (const proxy of Object.values(proxies)) proxy.poison({});
  };
};

const harms: readonly Harm[] = [
  {
    name: 'latency',
    fault: 'every piece of data to and from broker, Redis and model is delayed by 50 to 80 ms',
    forMs: [5_000, 20_000],
    boundMs: 15_000,
    begin: (proxies) => each(proxies, { travelMs: 50, jitterMs: 30 }),
  },
  {
    name: 'slicing',
    fault: 'everything arrives in pieces of 1 to 7 bytes',
    forMs: [4_000, 15_000],
    boundMs: 15_000,
    begin: (proxies) => each(proxies, { sliceBytes: [1, 7] }),
  },
  {
    name: 'reset',
    fault: 'every connection is reset every 500 ms',
    forMs: [4_000, 15_000],
    boundMs: 30_000,
    // Calls get through, but answers take longer than a connection lasts: they are cut in the middle.
    manners: { delayMs: { planner: 50, expert: 200, composer: 50 }, wordMs: 70 },
    begin(proxies) {
      const timer = setInterval(() => Object.values(proxies).forEach((proxy) => proxy.cut('reset')), 500);
      return () => clearInterval(timer);
    },
  },
  {
    name: 'half-open',
    fault: 'bytes are lost on open connections for longer than a session (6 s); affected connections stay dead without notice',
    forMs: [8_000, 15_000],
    // Requests to the broker are given up after 10 s, and its members are rebuilt after that; a swallowed model call costs the time of its
    // run, 25 s.
    boundMs: 40_000,
    begin: (proxies) => each(proxies, { halfOpen: 'for good' }),
  },
];

/** One fault after the other in one system: between two of them everything has ended. */
async function suffer(world: World, wanted: readonly Harm[]): Promise<void> {
  const { kafka, redis, model } = world.servers.proxies;
  const proxies = { kafka: kafka!, redis: redis!, model: model! };
  await world.warmUp();
  world.upstreamFaults = true;
  for (const { name, forMs, boundMs, manners, begin } of wanted) {
    const ms = forMs[world.short ? 0 : 1];
    world.behave(manners ?? { delayMs: { planner: 100, expert: 800, composer: 100 }, wordMs: 20 });
    // Questions keep arriving while it lasts.
    const load = world.load.run({
      runs: Math.round(ms / 800) + 3,
      atOnce: 4,
      everyMs: 500,
      name: `net${name}`,
      wallTimeS: 25,
      patienceMs: 90_000,
    });
    await inFlight(world, 2);
    const began = world.fault(name);
    const heal = begin(proxies);
    try {
      await pause(ms);
    } finally {
      heal();
    }
    const healed = Date.now();
    await until('all to be ready', async () => (await notReady(world)).size === 0, { timeoutMs: boundMs + 20_000, everyMs: 100 });
    const ready = Date.now();
    await load;
    const recoveryMs = recoveryAfter(world, began);
    world.row({
      name: `${name} for ${ms / 1000} s`,
      outcome: `all ready ${((ready - healed) / 1000).toFixed(1)} s after it`,
      recoveryMs,
      runs: runsOf(world, `net${name}`),
    });
    if (recoveryMs !== null && recoveryMs > ms + boundMs)
      throw new Error(`${name}: the last affected run ended ${recoveryMs} ms after it began; ${ms + boundMs} ms is the bound.`);
  }
}

const promise =
  'Whatever the network does to the connections, nothing is lost, and work continues within a time limit once the network is repaired.';

/** All faults, and each alone by its name. */
export const network: Scenario = {
  name: 'network',
  promise,
  fault: 'latency, slicing, resets and half-open connections between the services and broker, Redis and model server',
  modes: ['distributed'],
  controls: [{ without: 'whole-replies', check: 'right-answer', ci: false }],
  bounds: { accepted: 10, answered: 0.6, terminalMs: 90_000, soundRecords: true },
  limitS: 300,
  ci: ['distributed'],
  system: { proxied: ['kafka', 'redis', 'model'] },
  // Without the protection, only the fault that cuts answers matters.
  run: (world) => suffer(world, world.controlled ? harms.filter(({ name }) => name === 'reset') : harms),
};
export const networkHarms: readonly Scenario[] = harms.map((harm) => ({
  ...network,
  name: `network-${harm.name}`,
  fault: harm.fault,
  ci: [],
  limitS: 180,
  bounds: { ...network.bounds, accepted: 4 },
  run: (world) => suffer(world, [harm]),
}));
