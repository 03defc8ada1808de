import { inventedName, plainTemplate, roleOf, stackAddresses, System, type Stack } from '@conclave/test-support/system';
import { ScriptedModelServer, TcpProxy, type ScriptedRequest } from '@conclave/test-support';
import { answerAll, wants } from './committee.js';
import { Prometheus } from './prometheus.js';
import { targetsOf } from './watched-system.js';

/** Words of a question that make something go wrong with its run; `wants.simple` and `wants.failure` work too. */
export const troubles = {
  /** The expert says nothing for `silentMs`. */
  silent: 'patiently',
  /** The expert never answers. */
  mute: 'wordlessly',
  /** The judge answers with something that is not a verdict. */
  vague: 'vaguely',
  /** The plan asks every expert of a large committee. */
  crowd: 'crowdedly',
  /** The plan asks the knowledge graph. */
  known: 'knowingly',
} as const;

/** Above the thresholds of slow runs (150 s) and of late first words (90 s). */
export const silentMs = 155_000;

/** Categories of the large committee; each has a task in every plan for it. */
const crowd = Array.from({ length: 16 }, (_, n) => `guest_${n + 1}`);
const guest = (category: string) => ({ t1: ['scripted@fake'], prompt: `You are the expert ${category}.\nAnswer from what you know.\n` });
const expertTask = (category: string, n: number) => ({ id: `x${n}`, task: `Answer it (${category})`, capability: `expert.${category}` });

/** Adds replies that take precedence over those of the load. */
function addTroubles(models: ScriptedModelServer): void {
  const of = (role: string, word: string) => (request: ScriptedRequest) =>
    roleOf(request) === role && JSON.stringify(request.messages).includes(word);
  const times = Infinity;
  const plan = (tasks: readonly object[]) => ({ text: JSON.stringify({ tasks }) });
  models.add(
    {
      match: of('expert', troubles.silent),
      reply: { chunks: [{ text: 'FINDING: Gannet Rock.\nCONFIDENCE: 0.9', afterMs: silentMs }] },
      times,
    },
    { match: of('expert', troubles.mute), reply: { hang: true }, times },
    { match: of('expert', troubles.crowd), reply: { hang: true }, times },
    { match: of('assessor', troubles.vague), reply: { text: 'Lighthouses are a fine subject.' }, times },
    { match: of('planner', troubles.crowd), reply: plan(crowd.map(expertTask)), times },
    {
      match: of('planner', troubles.known),
      reply: plan([{ id: 'g1', task: 'Recall it', capability: 'graph' }, expertTask('general', 1)]),
      times,
    },
  );
}

const alone = {
  ...plainTemplate,
  strategy: 'single-pass',
  gap_check: 'answer',
  capabilities: [],
  experts: { general: { t1: ['scripted@fake'] } },
} as const;

/** `locked`: address of a server that accepts no key of ours. Times are long enough for the silent models. */
const configurationFor = (own: string, locked: string): Record<string, unknown> => ({
  providers: {
    fake: { base_url: own, api_key_env: 'FAKE_PROVIDER_KEY', max_concurrency: 64, paid: false, first_token_s: 600, idle_s: 600 },
    locked: { base_url: locked, paid: false },
  },
  models: { 'scripted@fake': { context: 32_768 } },
  templates: {
    alone,
    patient: { ...alone, task_timeout_s: 300, limits: { wall_time_s: 600 } },
    brief: { ...alone, limits: { wall_time_s: 30 } },
    judged: { ...alone, strategy: 'agentic', max_agentic_rounds: 1, gap_check: 'evidence' },
    knowing: {
      ...alone,
      capabilities: ['graph'],
      caches: { answer: false, semantic: true, plan: false, search: false },
      // The graph is called even though it keeps failing.
      policies: { '*': { breaker: { failures: 100 } } },
    },
    crowded: {
      ...alone,
      complexity: 'complex',
      experts: { ...alone.experts, ...Object.fromEntries(crowd.map((category) => [category, guest(category)])) },
      start_timeout_s: 600,
      task_timeout_s: 600,
      limits: { wall_time_s: 1_200, model_calls: 1_000, prompt_tokens: 10_000_000, tokens: 10_000_000, concurrent_tasks: 100 },
    },
  },
  task_classes: { guests: { capabilities: crowd.map((category) => `expert.${category}`), concurrency: 1 } },
  gateway: { max_open_runs: 500, max_queue_wait_s: 15 },
  // Nothing listens on port 9.
  webhooks: { team: { url: 'http://127.0.0.1:9/ends', secret_env: 'TEAM_SECRET' } },
  webhook_delivery: { attempts: 2, retry_s: 0.1, timeout_s: 1 },
});

/** A running distributed system whose stores are behind proxies, and the Prometheus that scrapes it. */
export interface Troubled {
  readonly system: System;
  readonly prometheus: Prometheus;
  readonly redis: TcpProxy;
  readonly graph: TcpProxy;
  readonly vectors: TcpProxy;
  /** Address of Redis behind its proxy. */
  readonly redisUrl: string;
  /** Restores the stores and stops the system. */
  stop(): Promise<void>;
}

/** A proxy in front of the server at an address, and the address with the port of the proxy. */
async function proxied(address: string): Promise<{ readonly proxy: TcpProxy; readonly url: string }> {
  const url = new URL(address);
  const proxy = await TcpProxy.open({ target: { host: url.hostname, port: Number(url.port) } });
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return { proxy, url: url.href.replace(/\/$/, '') };
}

/** Starts two gateways, two expert workers and one process of every other service. */
export async function startTroubled(): Promise<Troubled> {
  const opened: { close(): Promise<void> }[] = [];
  const keep = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one);
    return one;
  };
  const close = async (): Promise<void> => void (await Promise.all(opened.map((one) => one.close())));
  let system: System | null = null;
  try {
    const direct = stackAddresses();
    if (!direct.CHROMA_URL) throw new Error('This system needs a ChromaDB: run `npm run stack -- up` first.');
    const redis = await proxied(direct.REDIS_URL);
    const graph = await proxied(direct.NEO4J_URL);
    const vectors = await proxied(direct.CHROMA_URL);
    const proxies = [redis, graph, vectors].map(({ proxy }) => keep(proxy));
    const locked = keep(await ScriptedModelServer.start({ models: ['m'], apiKey: inventedName() }));
    const configuration: Record<string, unknown> = {};
    const servers: Partial<Stack> = { REDIS_URL: redis.url, NEO4J_URL: graph.url, CHROMA_URL: vectors.url };
    const running = (system = await System.start({
      mode: 'distributed',
      gateways: 2,
      experts: 2,
      servers,
      configuration,
      env: { TEAM_SECRET: `whsec_${Buffer.from('a long secret of the tests').toString('base64')}` },
      serviceEnv: { experts: { WORKER_CLASSES: 'expert,evidence,guests' } },
      modelUrl: (own) => {
        // Written only now, because the address of the models is known once they answer.
        Object.assign(configuration, configurationFor(own, locked.url));
        return own;
      },
    }));
    addTroubles(running.models);
    answerAll(running.models);
    // A merger that is frozen for eleven seconds must be a short gap in the ten minutes over which commands are judged.
    const prometheus = await Prometheus.start(targetsOf(running), { fast: true, by: 20 });
    await prometheus.seesAll();
    return {
      system: running,
      prometheus,
      redis: redis.proxy,
      graph: graph.proxy,
      vectors: vectors.proxy,
      redisUrl: direct.REDIS_URL,
      stop: async () => {
        for (const proxy of proxies) proxy.refuse(false);
        await prometheus.stop();
        await running.stop();
        await close();
      },
    };
  } catch (error) {
    await system?.stop();
    await close();
    throw error;
  }
}

let asked = 0;
/** A question that no other run has, with these words in it. */
export const troubledQuestion = (...words: readonly string[]): string =>
  `Who lit the lamp of Gannet Rock (question ${(asked += 1)}${[wants.simple, ...words].map((word) => `, ${word}`).join('')})?`;
