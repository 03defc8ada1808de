import type { AddressInfo } from 'node:net';
import {
  type CommandIssued,
  type Event,
  noUsage,
  type PlanRequested,
  RunView,
  type StreamBody,
  type Template,
  type RunCompletedEntry,
} from '@conclave/contracts';
import { openApiText } from '@conclave/contracts/print';
import { ProviderAccess } from '@conclave/calls';
import { type LogFields, noProbe, openLogger, openMetrics, type Probe, silentLogger, tuningFaults } from '@conclave/platform';
import {
  MemoryBlobs,
  MemoryBroker,
  type MemoryLog,
  type EmbeddingCall,
  type Models,
  type ModelReply,
  type CallWatch,
  type PassedRequest,
  passOver,
} from '@conclave/ports';
import type { INestApplication } from '@nestjs/common';
import { hashOfKey } from '../accounts/key-value.js';
import { createGatewayApp } from '../create-app.js';
import type { ApiKeys, GatewayLimits, GatewayMetrics, GatewayOptions, KeyOwner } from '../options.js';
import { MemoryStores, type FakeRun } from './memory-state.js';

export const template: Template = {
  id: 'conclave',
  version: '0123456789abcdef',
  description: 'Checks what is still missing and plans again.',
  strategy: 'agentic',
  max_agentic_rounds: 3,
  gap_check: 'evidence',
  planner: { models: ['m@fake'], prompt: null },
  judge: { models: ['m@fake'] },
  experts: { general: { t1: ['m@fake'], prompt: 'Answer.' } },
  capabilities: ['research'],
  classes: { expert: 'expert', research: 'evidence', judge: 'judge' },
  limits: { wall_time_s: 300, model_calls: 60, prompt_tokens: 80_000, tokens: 200_000, cost: null, concurrent_tasks: 8 },
  task_timeout_s: 60,
  start_timeout_s: 30,
  planning_timeout_s: 60,
  progress: 'reasoning',
  prices: {},
  contexts: {},
};

export const usage = { calls: 5, prompt: 120, completion: 45, reasoning: 7, cost: 0.25, estimated: false };

export const completed = (over: Partial<RunCompletedEntry> = {}): RunCompletedEntry => ({
  kind: 'run.completed',
  outcome: 'completed',
  rule: 'D3',
  reason: 'Nothing is missing.',
  reasonCode: 'sufficient',
  answer: 'It is blue [1].',
  cutShort: false,
  sources: [{ kind: 'web', title: 'Sky', url: 'http://127.0.0.1/sky' }],
  usage,
  rounds: 1,
  failure: null,
  ...over,
});

/** The record of a run in these specs, from the entries of its stream. */
function describeRun(state: unknown): RunView {
  const { runId, status, terminal, entries } = state as FakeRun;
  const end = entries.find((entry): entry is RunCompletedEntry => entry.kind === 'run.completed');
  return RunView.parse({
    object: 'run',
    id: runId,
    template: { id: template.id, version: template.version, strategy: template.strategy },
    status,
    terminal,
    outcome: end?.outcome ?? null,
    rule: end?.rule ?? null,
    reason: end?.reason ?? null,
    reasonCode: end?.reasonCode ?? null,
    question: 'Why is the sky blue?',
    answer: end?.answer ?? null,
    cutShort: end?.cutShort ?? false,
    sources: end?.sources ?? [],
    rounds: [],
    roundsUsed: 0,
    history: [],
    decisions: [],
    usage: { total: end?.usage ?? noUsage, items: [] },
    limits: template.limits,
    failure: end?.failure ?? null,
    acceptedAt: 1,
    startedAt: 1,
    completedAt: end ? 2 : null,
  });
}

/** A direct model with scripted replies, used in order; an unscripted call fails. */
export class ScriptedModels implements Models {
  readonly calls: { readonly request: PassedRequest; readonly signal: AbortSignal }[] = [];
  private readonly script: ((watch: CallWatch) => Promise<ModelReply>)[] = [];

  next(answer: (watch: CallWatch) => Promise<ModelReply>): void {
    this.script.push(answer);
  }
  pass: Models['pass'] = async (request, watch) => {
    this.calls.push({ request, signal: watch.signal });
    return passOver((_call, heard) => this.call(_call, heard))(request, watch);
  };
  call(_request: unknown, watch: CallWatch): Promise<ModelReply> {
    const answer = this.script.shift();
    if (!answer) throw new Error('unscripted model call');
    return answer(watch);
  }
  readonly embedded: EmbeddingCall[] = [];
  /** How the embedding model answers; three numbers per text unless a spec says otherwise. */
  embeds: NonNullable<Models['embed']> = async ({ input }) => ({
    vectors: input.map((text) => Float32Array.of(text.length, 0.5, -1)),
    usage: { calls: 1, prompt: 7, completion: 0, reasoning: 0, cost: 0.5, estimated: false },
    reportedModel: 'e',
    durationMs: 2,
  });
  embed: NonNullable<Models['embed']> = (request, watch) => {
    this.embedded.push(request);
    return this.embeds(request, watch);
  };
  readonly listed: Awaited<ReturnType<Models['list']>>[number][] = [];
  list() {
    return Promise.resolve(this.listed);
  }
  readonly known: Awaited<ReturnType<Models['providers']>>[number][] = [];
  providers() {
    return Promise.resolve(this.known);
  }
  close() {
    return Promise.resolve();
  }
}

export const reply = (over: Partial<ModelReply> = {}): ModelReply => ({
  content: 'Hello there',
  reasoning: '',
  finishReason: 'stop',
  usage: { calls: 1, prompt: 3, completion: 2, reasoning: 0, cost: 0, estimated: false },
  reportedModel: 'm',
  firstTokenMs: 1,
  durationMs: 2,
  ...over,
});

export interface WorldOptions {
  readonly limits?: Partial<GatewayLimits>;
  readonly keys?: GatewayOptions['keys'];
  readonly access?: Partial<NonNullable<GatewayOptions['access']>>;
  readonly template?: Partial<Template>;
  /** Templates offered in addition. */
  readonly others?: readonly Template[];
  readonly probe?: Partial<Probe>;
  /** Stores and log shared with another gateway. */
  readonly share?: Pick<World, 'stores' | 'broker'>;
  /** Ports and limits that replace the defaults. */
  readonly parts?: Partial<
    Pick<
      GatewayOptions,
      | 'openTrial'
      | 'recordPrompts'
      | 'repetitionLimit'
      | 'consoleFolder'
      | 'configuredProviders'
      | 'processId'
      | 'groups'
      | 'blobs'
      | 'documents'
      | 'vectors'
      | 'embedder'
      | 'passages'
      | 'graph'
      | 'skillFolder'
      | 'models'
      | 'remoteFiles'
      | 'webhooks'
    >
  >;
  readonly describeModels?: () => Promise<readonly { readonly id: string; readonly ownedBy: string; readonly created: number }[]>;
}

/** One gateway on a free port, with stores in memory and no consumer on the log: the spec plays the engine. */
export class World {
  readonly stores: MemoryStores;
  readonly broker: MemoryBroker;
  readonly log: MemoryLog;
  readonly models = new ScriptedModels();
  readonly lines: { readonly message: string; readonly fields: LogFields }[] = [];
  readonly seen: { readonly name: keyof GatewayMetrics; readonly values: readonly unknown[] }[] = [];
  readonly history: { readonly op: string; readonly phase: string; readonly id: string; readonly data: unknown }[] = [];
  consumer: string | null = null;
  app!: INestApplication;
  url = '';
  publishFails = false;

  private constructor(share?: WorldOptions['share']) {
    this.stores = share?.stores ?? new MemoryStores();
    this.broker = share?.broker ?? new MemoryBroker();
    this.log = this.broker.connect();
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const world = new World(options.share);
    world.app = await createGatewayApp(world.options(options));
    await world.app.listen(0, '127.0.0.1');
    world.url = `http://127.0.0.1:${(world.app.getHttpServer().address() as AddressInfo).port}`;
    return world;
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.log.close();
  }

  private options({ limits, keys, access, template: changes, others = [], probe, describeModels, parts }: WorldOptions): GatewayOptions {
    const used = { ...template, ...changes };
    const metrics = new Proxy({} as GatewayMetrics, {
      get:
        (_, name) =>
        (...values: unknown[]) =>
          void this.seen.push({ name: name as keyof GatewayMetrics, values }),
    });
    const publish = this.log.publish.bind(this.log);
    this.log.publish = (events) => (this.publishFails ? Promise.reject(new Error('the log does not answer')) : publish(events));
    const providing = { state: this.stores.state, models: this.models, metrics: openMetrics(), logger: silentLogger, processId: 'gateway' };
    return {
      catalogue: {
        templates: () => [used, ...others],
        resolve: (name) => {
          if (name === used.id || name === 'gpt-4o') return { kind: 'template', template: used };
          const other = others.find(({ id }) => id === name);
          if (other) return { kind: 'template', template: other };
          return ['m@fake', 'org/m:8b@fake'].includes(name) ? { kind: 'model', ref: name } : null;
        },
        resolveEmbedding: (name) => (name.endsWith('@fake') ? name : null),
        tuningFaults: async (_id, strategy, tuning) =>
          tuningFaults(tuning, {
            ...{ strategy, localOnly: false, categories: Object.keys(used.experts), configured: {} },
            models: [{ ref: 'm@fake', provider: 'fake', kind: 'chat' }],
            providers: [{ name: 'fake', reachable: true, local: true }],
          }),
        waitsFor: async (name) => (name === 'asleep' ? 'fake: does not answer' : null),
        describeModels:
          describeModels ??
          (() => [
            { id: used.id, ownedBy: 'conclave', created: 1, description: used.description },
            ...others.map(({ id, description }) => ({ id, ownedBy: 'conclave', created: 1, description })),
            { id: 'gpt-4o', ownedBy: 'conclave', created: 1 },
            { id: 'm@fake', ownedBy: 'fake', created: 1 },
            { id: 'org/m:8b@fake', ownedBy: 'fake', created: 1 },
            { id: 'e@fake', ownedBy: 'fake', created: 1, kind: 'embedding' as const },
          ]),
      },
      log: this.log,
      state: this.stores.state,
      stream: this.stores.stream,
      models: this.models,
      providers: new ProviderAccess(providing),
      blobs: new MemoryBlobs(),
      ...parts,
      limits: { directHeadMs: 50, healthCacheMs: 0, shutdownGraceMs: 2_000, ...limits },
      keys: keys ?? null,
      access: { known: knownAdmin, allowedHosts: [], open: false, ...access },
      logger: openLogger({
        level: 'debug',
        sinks: [{ write: ({ message, ...fields }) => void this.lines.push({ message, fields }), close: () => undefined }],
      }),
      metrics,
      describeRun,
      auditKey,
      consumers: () => [{ group: 'merger', health: () => this.consumer }],
      openApi: () => Promise.resolve(openApiText('0.1.0')),
      asyncApi: () => Promise.resolve('{"asyncapi":"3.0.0"}'),
      probe: { ...noProbe, records: true, note: ({ op, phase, id, data }) => void this.history.push({ op, phase, id, data }), ...probe },
    };
  }

  async post(
    path: string,
    body: unknown,
    init: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal } = {},
  ): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...init.headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(init.signal ? { signal: init.signal } : {}),
    });
  }

  chat(over: Record<string, unknown> = {}, init: Parameters<World['post']>[2] = {}): Promise<Response> {
    return this.post(
      '/v1/chat/completions',
      { model: 'conclave', stream: true, messages: [{ role: 'user', content: 'Why is the sky blue?' }], ...over },
      init,
    );
  }

  /** Events of a topic in publish order. */
  events<T extends Event>(topic: string): T[] {
    return this.broker.records(topic).map(
      ({ raw, headers }) =>
        ({
          runId: headers.ce_runid,
          id: headers.ce_id,
          traceparent: headers.traceparent,
          data: JSON.parse(raw!.toString()),
        }) as unknown as T,
    );
  }
  requested(): PlanRequested[] {
    return this.events<PlanRequested>('plan.requested');
  }
  commands(): CommandIssued[] {
    return this.events<CommandIssued>('run.commands');
  }
  /** Ids of accepted runs, oldest first. */
  runs(): string[] {
    return [...this.stores.headers.keys()];
  }
  /** The only run. */
  run(): string {
    const [runId, ...others] = this.runs();
    if (!runId || others.length > 0) throw new Error(`expected one run, found ${this.runs().length}`);
    return runId;
  }
  write(...entries: StreamBody[]): void {
    this.stores.write(this.run(), entries);
  }
  async chunk(text: string, offset: number, attempt = 1): Promise<void> {
    await this.stores.worker(this.run(), [{ kind: 'chunk', taskId: `${this.run()}/0/judge.synthesis`, attempt, offset, text }]);
  }
  compose(stream: 'live' | 'held' = 'live'): void {
    this.write({ kind: 'composing', taskId: `${this.run()}/0/judge.synthesis`, stream });
  }
  metric(name: keyof GatewayMetrics): readonly (readonly unknown[])[] {
    return this.seen.filter((call) => call.name === name).map(({ values }) => values);
  }
}

/** Keys by value, with their owners. */
export function keysOf(owners: Readonly<Record<string, KeyOwner>>): ApiKeys {
  const byHash = new Map(Object.entries(owners).map(([value, owner]) => [hashOfKey(value), owner]));
  const identifyHash = (hash: string) => Promise.resolve(byHash.get(hash) ?? null);
  return { identifyHash, identify: (key) => (key === null ? Promise.resolve(null) : identifyHash(hashOfKey(key))) };
}

const user = { role: 'user' } as const;
const owners: Readonly<Record<string, KeyOwner>> = {
  'sk-a': { keyId: 'static:a', name: 'a', tenant: 'a', actor: 'key_a', ...user },
  'sk-a-full': { keyId: 'static:a-full', name: 'a-full', tenant: 'a', actor: 'key_a_full', detail: 'full', ...user },
  'sk-a-auditor': { keyId: 'static:a-auditor', name: 'a-auditor', tenant: 'a', actor: 'key_a_auditor', role: 'auditor' },
  'sk-a-admin': { keyId: 'static:a-admin', name: 'a-admin', tenant: 'a', actor: 'key_a_admin', role: 'admin' },
  'sk-b-admin': { keyId: 'static:b-admin', name: 'b-admin', tenant: 'b', actor: 'key_b_admin', role: 'admin' },
  'sk-b-auditor': { keyId: 'static:b-auditor', name: 'b-auditor', tenant: 'b', actor: 'key_b_auditor', role: 'auditor' },
  'sk-admin': { keyId: 'static:admin', name: 'admin', tenant: 'default', actor: 'key_admin', role: 'admin' },
  'sk-operator': { keyId: 'static:operator', name: 'operator', tenant: 'default', actor: 'key_operator', role: 'admin' },
  'sk-b': { keyId: 'static:b', name: 'b', tenant: 'b', actor: 'key_b', ...user },
};

/** Keys of two tenants, each with a key for every role, and the key of the operator. */
export const twoTenants: ApiKeys = keysOf(owners);

/** A signature that these tests never check; the specs of the platform and of the command line sign with real keys. */
const auditKey: NonNullable<GatewayOptions['auditKey']> = () => ({ file: 'audit.key', publicKey: 'none', made: false, sign: () => 'none' });

/** Admin key that every gateway of these specs accepts without required keys. */
export const adminKey = 'sk-admin-of-these-specs';
export const byAdmin = { 'x-api-key': adminKey } as const;
const knownAdmin = keysOf({ [adminKey]: { keyId: 'static:ada', name: 'ada', tenant: 'default', actor: 'key_ada', role: 'admin' } });
