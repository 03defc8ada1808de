import { join } from 'node:path';
import { Supervised } from '@conclave/test-support';
import { freePorts, workspaceRoot } from '@conclave/test-support/system';
import type { Closing } from './closing.js';
import type { Scratch } from './scratch.js';
import type { Stores } from './stores.js';
import { profileFlags } from './worker.js';

export interface ProductOptions {
  /** Base URL of the fake model, with /v1. */
  readonly modelUrl: string;
  readonly scratch: Scratch;
  readonly closing: Closing;
  readonly profile?: string | undefined;
  /** Node flags. */
  readonly flags?: readonly string[];
  /** Whether the caches may answer; otherwise every request is a run, even a repeated one. */
  readonly answersFromMemory?: boolean;
  /** Templates in addition to the one of every benchmark, and other top-level settings. */
  readonly templates?: Readonly<Record<string, object>>;
  readonly settings?: object;
  /** Variables for the process of an app. */
  readonly envOf?: (app: string) => Readonly<Record<string, string>>;
}

/** The product as users start it. `url` is the base URL of its gateway, with /v1. */
export interface Product {
  readonly url: string;
  readonly processes: readonly Launched[];
}

/** The fake model as a direct model of the gateway. */
export const directModel = 'scripted@fake';
/** A template whose run is a plan, one expert and a streamed synthesis: three calls, no gap check. */
export const liveTemplate = 'live';

export const services = ['planner', 'experts', 'merger', 'graph-ingest', 'gateway'] as const;
/** The variable with the port on which a service reports readiness. */
export const portNameOf = (app: string): 'PORT' | 'ADMIN_PORT' => (app === 'gateway' ? 'PORT' : 'ADMIN_PORT');
const readyWithinMs = 90_000;

/** conclave.yaml with the fake model and one template. */
export const configuration = (modelUrl: string, rest: object, caching = false, templates: object = {}): object => ({
  providers: { fake: { base_url: modelUrl, api_key_env: 'FAKE_MODEL_KEY', paid: false, max_concurrency: 64, timeout_s: 600 } },
  models: { [directModel]: { context: 32_768 } },
  templates: {
    [liveTemplate]: {
      strategy: 'single-pass',
      planner: { model: directModel },
      judge: { model: directModel },
      experts: { general: { t1: [directModel] } },
      // Measures the path of an answer, without optional steps.
      complexity: 'moderate',
      refine_rounds: 0,
      caches: { answer: caching, semantic: caching, plan: caching, search: caching },
    },
    ...templates,
  },
  ...rest,
});

/** Clears variables of the product that must not leak in from the shell. */
const cleared = Object.fromEntries(
  [
    'KAFKA_BROKERS',
    'KAFKA_TOPIC_PREFIX',
    'REDIS_URL',
    'NEO4J_URL',
    'SEARXNG_URL',
    'OPENAI_BASE_URL',
    'OPENAI_API_KEY',
    'PORT',
    'HOST',
    'ADMIN_PORT',
    'CONCLAVE_CONFIG',
    'CONCLAVE_HOME',
    'CONCLAVE_URL',
    'WORKER_CLASSES',
    'LOG_LEVEL',
    'NODE_OPTIONS',
  ].map((name) => [name, undefined]),
);

export async function startEmbedded({
  modelUrl,
  scratch,
  envOf,
  answersFromMemory,
  templates,
  settings = {},
  ...rest
}: ProductOptions): Promise<Product> {
  const home = scratch.home('embedded', configuration(modelUrl, settings, answersFromMemory, templates));
  const running = await launch({ app: 'standalone', home, portName: 'PORT', env: envOf?.('standalone'), ...rest });
  return { url: `http://127.0.0.1:${running.port}/v1`, processes: [running] };
}

/** Five processes on the given stores, one of each service. */
export async function startDistributed(stores: Stores, { modelUrl, scratch, envOf, ...rest }: ProductOptions): Promise<Product> {
  const home = scratch.home('distributed', configuration(modelUrl, stores.configuration('product')));
  const launches = services.map((app) => launch({ app, home, portName: portNameOf(app), env: envOf?.(app), ...rest }));
  // Waits for all launches, so that if one fails, those that did start are ended.
  await Promise.allSettled(launches);
  const processes = await Promise.all(launches);
  return { url: `http://127.0.0.1:${processes.at(-1)!.port}/v1`, processes };
}

/** A process of the product. */
export interface Launched {
  readonly app: string;
  readonly port: number;
  readonly pid: number;
}

export interface Launch {
  readonly app: string;
  /** Data folder; its conclave.yaml is the configuration. */
  readonly home: string;
  readonly portName: 'PORT' | 'ADMIN_PORT';
  readonly closing: Closing;
  readonly profile?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly flags?: readonly string[];
  /** Log line that reports readiness; without it, the process is polled. */
  readonly ready?: RegExp;
}

/** Starts a process of the product and waits until it is ready. */
export async function launch({ app, home, portName, closing, profile, env = {}, flags = [], ready }: Launch): Promise<Launched> {
  const port = (await freePorts(1))[0]!;
  const running = await Supervised.start({
    name: app,
    args: [...flags, ...profileFlags(profile), join(workspaceRoot, 'dist', `${app}.js`)],
    cwd: home,
    env: { ...cleared, CONCLAVE_HOME: home, FAKE_MODEL_KEY: 'bench', LOG_LEVEL: 'info', ...env, [portName]: String(port) },
    ready: ready ?? `http://127.0.0.1:${port}/health/ready`,
    readyTimeoutMs: readyWithinMs,
  });
  closing.add(() => running.stop(20_000));
  return { app, port, pid: running.pid! };
}
