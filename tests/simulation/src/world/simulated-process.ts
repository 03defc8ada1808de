import type { Event, Service } from '@conclave/contracts';
import {
  claimStores,
  deliveryHooks,
  holdProcessLease,
  LOGGER,
  LogTransport,
  METRICS,
  PROBE,
  PROCESS,
  type Probe,
  READINESS,
  openReadiness,
  silentLogger,
  type ProcessLease,
} from '@conclave/platform';
import {
  BLOBS,
  DOCUMENTS,
  EMBEDDER,
  EVENT_LOG,
  GRAPH,
  MODELS,
  PAGES,
  RERANKINGS,
  RUN_STREAM,
  SEARCH,
  STATE,
  SYMBOLIC,
  TOOLS,
  VECTORS,
  WEBHOOKS,
  SuspectTurns,
  type Blobs,
  type DeliveryKey,
  type DeliveryLedger,
  type EventLog,
  MemoryDocuments,
  type KnowledgeGraph,
  type RunStream,
  type StateStore,
} from '@conclave/ports';
import { ExpertsModule } from '@conclave/service-experts';
import { Acceptance, Commands, Documents, FeedbackController, GatewayModule, RunsController, StreamHub } from '@conclave/service-gateway';
import { GraphIngestModule } from '@conclave/service-graph-ingest';
import { LearningModule } from '@conclave/service-learning';
import { MergerModule } from '@conclave/service-merger';
import { PlannerModule } from '@conclave/service-planner';
import { WebhooksModule } from '@conclave/service-webhooks';
import { gatewayOptions } from './gateway-options.js';
import { Assembled, callHook } from './light-injector.js';
import { quietMetrics } from './quiet-metrics.js';
import { portView, through } from './port-view.js';
import { simulatedEmbedder } from './simulated-embedder.js';
import { SimulatedLog } from './simulated-log.js';
import { simulatedModels, simulatedSearch } from './simulated-models.js';
import { simulatedReceiver, simulatedWebhook } from './simulated-receiver.js';
import { simulatedTools } from './simulated-tools.js';
import type { LivingProcess, SimulatedGateway, Surroundings } from './surroundings.js';

const storePrompts = 'hash';
const modules = {
  planner: { register: () => PlannerModule.register({ storePrompts }), classes: [] },
  experts: { register: () => ExpertsModule.register({ storePrompts }), classes: ['expert', 'evidence'] },
  merger: { register: () => MergerModule.register({ storePrompts }), classes: ['judge'] },
  'graph-ingest': { register: () => GraphIngestModule.register(), classes: [] },
} as const;
/** The address of the simulated receiver. */
const webhooks = () =>
  WebhooksModule.register({
    webhooks: { [simulatedWebhook]: { preset: 'json', url: 'https://receiver.example/', secret: `whsec_${'MfKQ'.repeat(8)}` } },
    maxBytes: 65_536,
    withQuestion: false,
    limits: { atOnce: 32, waiting: 256, longestWaitMs: 600_000 },
  });
type LogService = keyof typeof modules;

/**
 * One process of the system: its services with their own view of the shared stores. After it dies, nothing from it reaches the outside, and
 * unfinished work stays undone.
 */
export class SimulatedProcess implements LivingProcess {
  readonly service: Service;
  readonly state: StateStore;
  readonly log: EventLog;
  readonly stream: RunStream;
  dead = false;
  frozenUntil = 0;
  inFlight = 0;
  gateway: SimulatedGateway | null = null;
  private readonly raw: SimulatedLog;
  private readonly blobs: Blobs;
  private readonly graph: KnowledgeGraph;
  private transports: readonly LogTransport[] = [];
  private lease: ProcessLease | null = null;
  private objects: readonly unknown[] = [];
  private readonly onDeath: (() => void)[] = [];
  /** Owner of the call that is about to be made, recorded in the same turn. */
  private calling: string | null = null;
  /** Records it has begun and not returned, although they may have been reassigned; as in `held()` of the log. */
  private readonly begun = new Set<string>();
  /** Whether a call was made in this tick. */
  private isCalling = false;
  private readonly invoked = new Map<string, { readonly step: string; readonly attempt: number }>();

  constructor(
    readonly world: Surroundings,
    readonly slot: string,
    readonly id: string,
  ) {
    this.service = slot.slice(0, slot.lastIndexOf('-')) as Service;
    const { stores, graphStore, broker } = world;
    const planted = world.planted;
    const { state, stream } = stores.connect(id);
    const seen = planted.state?.(state) ?? state;
    const view = <T extends object>(port: string, part: T): T => portView(this, port, part, 'state');
    this.state = {
      runs: view('runs', seen.runs),
      journal: view('journal', seen.journal),
      timers: view('timers', seen.timers),
      leases: view('leases', seen.leases),
      deliveries: this.noted(view('deliveries', seen.deliveries)),
      settings: view('settings', seen.settings),
      caches: view('caches', seen.caches),
      scores: view('scores', seen.scores),
      once: view('once', seen.once),
      usage: view('usage', seen.usage),
      breakers: view('breakers', seen.breakers),
      allowances: view('allowances', seen.allowances),
      identity: view('identity', seen.identity),
      hints: {
        publish: (channel, payload) => through(this, 'hints.publish', 'state', [channel], () => seen.hints.publish(channel, payload)),
        subscribe: (channel, listener) =>
          through(this, 'hints.subscribe', 'state', [channel], () =>
            seen.hints.subscribe(channel, (payload) => this.hear(listener, payload)),
          ),
      },
      durable: () => seen.durable(),
      published: (outputs) => (this.dead ? undefined : seen.published?.(outputs)),
      now: () => through(this, 'state.now', 'state', [], () => seen.now()),
      health: () => through(this, 'state.health', 'state', [], () => seen.health()),
      warnings: () => seen.warnings(),
      close: () => seen.close(),
    };
    this.stream = portView(this, 'stream', stream, 'state');
    this.blobs = portView(this, 'blobs', world.blobs, 'blobs');
    this.graph = portView(this, 'graph', graphStore.connect(), 'graph');
    const hooks = deliveryHooks({ metrics: quietMetrics, logger: silentLogger, probe: this.probe });
    // Suspects are not held back, so that records are buried and what follows from it is reached.
    const turns = new SuspectTurns(this.world.clock);
    this.raw = new SimulatedLog(this, { broker, blobs: this.blobs, ledger: this.state.deliveries, hooks, turns, self: () => this.log });
    const view2 = portView(this, 'log', this.raw, 'log', ['identity', 'read', 'lag', 'close']);
    const identity = portView(this, 'log.identity', this.raw.identity, 'log');
    this.log = {
      publish: (events) => view2.publish(events),
      subscribe: (subscription) => view2.subscribe(planted.subscription?.(subscription, this) ?? subscription),
      erase: (runId) => view2.erase(runId),
      lag: (group) => this.raw.lag(group),
      read: (topic) => this.raw.read(topic),
      identity,
      health: () => view2.health(),
      close: () => this.raw.close(),
    };
  }

  get probe(): Probe {
    return {
      records: false,
      isArmed: () => false,
      reached: (_service, point, id) => {
        if (point === 'before-call') this.calling = id;
        this.world.storm.inside(this, point);
      },
      note: ({ op, phase, id, data }) => {
        if (op === 'call' && phase === 'invoke')
          this.invoked.set(id.slice(0, id.lastIndexOf('/call/')), { step: id, attempt: (data as { attempt: number }).attempt });
      },
    };
  }

  /** Requests that a call sends at once, such as a search with several queries, count as one call. */
  callMade(): { readonly runId: string | null; readonly reached: () => () => void } {
    const call = this.calling === null ? undefined : this.invoked.get(this.calling);
    this.calling = null;
    if (!call && this.isCalling) return { runId: null, reached: () => () => undefined };
    if (!call) throw new Error('A call was made without a step in the journal.');
    this.isCalling = true;
    queueMicrotask(() => (this.isCalling = false));
    // A request that waited too long for its answer may end before it arrives.
    const order = this.world.observations.nextOrder();
    return { runId: call.step.split('/', 1)[0]!, reached: () => this.callReached({ ...call, order }) };
  }

  private callReached(call: { readonly step: string; readonly attempt: number; readonly order: number }): () => void {
    const { observations } = this.world;
    const observed = {
      ...call,
      runId: call.step.split('/', 1)[0]!,
      process: this.id,
      startedAt: Date.now(),
      endedAt: null as number | null,
    };
    observations.calls.push(observed);
    return () => {
      observed.endedAt = Date.now();
    };
  }

  private noted(ledger: DeliveryLedger): DeliveryLedger {
    const nameOf = ({ group, record }: DeliveryKey): string => `${group} ${record}`;
    const ending =
      (end: (key: DeliveryKey) => Promise<void>) =>
      async (key: DeliveryKey): Promise<void> => {
        await end(key);
        this.begun.delete(nameOf(key));
      };
    return {
      unended: async (key) => ledger.unended?.(key) ?? 0,
      begin: (key) => {
        this.begun.add(nameOf(key));
        return ledger.begin(key);
      },
      failed: ending((key) => ledger.failed(key)),
      released: ending((key) => ledger.released(key)),
      done: ending((key) => ledger.done(key)),
    };
  }

  /** Rejects if it cannot start; a supervisor then tries again. */
  async start(): Promise<void> {
    await claimStores(this.log, this.state);
    const classes: readonly string[] = this.service === 'gateway' ? [] : modules[this.service as LogService].classes;
    this.lease = await holdProcessLease(this.state.leases, { id: this.id, service: this.service, classes }, silentLogger);
    if (this.service === 'gateway') await this.startGateway();
    else await this.startService(this.service as LogService, classes);
  }

  private async startGateway(): Promise<void> {
    const models = simulatedModels(this, this.world.models);
    const options = gatewayOptions({
      ...this.ports(),
      models,
      probe: this.probe,
      newRunId: this.world.newRunId,
      templates: Object.values(this.world.templates),
    });
    const assembled = new Assembled(GatewayModule.register(options), new Map(), this.world.planted.replaced);
    const hub = assembled.get<StreamHub>(StreamHub);
    this.objects = [{ onApplicationShutdown: () => hub.close() }];
    await hub.onModuleInit();
    this.gateway = {
      acceptance: assembled.get(Acceptance),
      commands: assembled.get(Commands),
      hub,
      documents: assembled.get(Documents),
      runs: assembled.get(RunsController),
      feedback: assembled.get(FeedbackController),
    };
  }

  private async startService(service: LogService, classes: readonly string[]): Promise<void> {
    const { world } = this;
    const ports = this.ports();
    const values = new Map<unknown, unknown>([
      [EVENT_LOG, ports.log],
      [STATE, ports.state],
      [RUN_STREAM, ports.stream],
      [BLOBS, this.blobs],
      [GRAPH, ports.graph],
      [VECTORS, ports.vectors],
      [EMBEDDER, ports.embedder],
      [TOOLS, simulatedTools(this, world.models)],
      [DOCUMENTS, new MemoryDocuments()],
      ...[PAGES, SYMBOLIC].map((token) => [token, null] as const),
      [RERANKINGS, { research: null, collections: null }],
      [MODELS, portView(this, 'models', simulatedModels(this, world.models), 'models', ['call'])],
      [SEARCH, simulatedSearch(this, world.models)],
      [WEBHOOKS, simulatedReceiver(this, world.models)],
      [LOGGER, silentLogger],
      [METRICS, quietMetrics],
      [PROBE, this.probe],
      [READINESS, openReadiness()],
      [PROCESS, { id: this.id, classes }],
    ]);
    // Learning and webhooks have their own consumer groups in the process of the engine.
    const served = [
      [service, modules[service].register()] as const,
      ...(service === 'merger'
        ? ([
            ['learning', LearningModule.register()],
            ['webhooks', webhooks()],
          ] as const)
        : []),
    ];
    for (const [group, module] of served) {
      const assembled = new Assembled(module, values, world.planted.replaced);
      this.objects = [...this.objects, ...assembled.all()];
      await this.consume(group, group === service ? classes : [], assembled);
    }
    await callHook(this.objects, 'onApplicationBootstrap');
  }

  private async consume(service: string, classes: readonly string[], assembled: Assembled): Promise<void> {
    // A receiver that refuses for a while is not the fault of a record: dead letters here come only from the storm.
    const retry = service === 'webhooks' ? { attempts: 100 } : {};
    const observed = { logger: silentLogger, metrics: quietMetrics };
    const published = (outputs: readonly Event[]): void => this.state.published?.(outputs);
    const transport = new LogTransport({ log: this.log, service, ...observed, classes, retry, graceMs: 5_000, published });
    this.transports = [...this.transports, transport];
    for (const { pattern, handle } of assembled.handlers()) {
      transport.addHandler(pattern, ((payload: unknown, context: unknown) => handle(payload, context)) as never, true);
    }
    await new Promise<void>((resolve, reject) => {
      void transport.listen((error) => (error ? reject(error instanceof Error ? error : new Error(String(error))) : resolve()));
    });
  }

  private ports() {
    const vectors = portView(this, 'vectors', this.world.vectorStore.connect(), 'vectors');
    const { log, state, stream, blobs, graph } = this;
    return { log, state, stream, blobs, graph, vectors, embedder: simulatedEmbedder(this) };
  }

  /** Loses its connections and its memory; its lease expires, and its records are reassigned when the group notices. */
  die(point: string): void {
    if (this.dead) return;
    const { world } = this;
    const held = [...this.raw.consumptions].flatMap((consumption) => consumption.held());
    const records = [...new Set([...held, ...this.begun])];
    world.observations.deaths.push({ process: this.id, point, at: Date.now(), openRuns: world.openRuns(), records });
    world.trace(this.id, `dies ${point}`);
    this.dead = true;
    this.frozenUntil = 0;
    setTimeout(() => this.leaveGroups(), world.storm.lateMs(5_000));
    // Its timers would otherwise fire forever without effect.
    void this.lease?.end();
    void callHook(
      this.objects.filter((object) => object && typeof object === 'object'),
      'onApplicationShutdown',
    );
    for (const tell of this.onDeath.splice(0)) tell();
    world.restart(this);
  }

  /** An orderly stop, as on SIGTERM: handlers end or are handed back. */
  async stop(): Promise<void> {
    for (const transport of this.transports) await transport.close();
    await callHook(this.objects, 'onApplicationShutdown');
    await this.lease?.end();
    await this.raw.close();
    if (this.dead) return;
    this.dead = true;
    for (const tell of this.onDeath.splice(0)) tell();
  }

  freeze(ms: number): void {
    if (this.dead) return;
    this.frozenUntil = Date.now() + ms;
    this.world.trace(this.id, `is frozen for ${ms} ms`);
    setTimeout(() => this.frozenUntil > Date.now() && this.rebalance(Math.max(50, this.frozenUntil - Date.now())), 6_000);
    setTimeout(() => this.world.dispatch(), ms);
  }

  /** The group takes its records away; it rejoins after `ms`. */
  rebalance(ms: number): void {
    if (this.dead) return;
    this.world.trace(this.id, 'loses its records');
    for (const consumption of this.raw.consumptions) {
      consumption.lose();
      setTimeout(() => consumption.join(), ms);
    }
  }

  leaveGroups(): void {
    for (const consumption of this.raw.consumptions) consumption.lose();
  }

  gone(): Promise<void> {
    return this.dead ? Promise.resolve() : new Promise((resolve) => this.onDeath.push(resolve));
  }

  private hear(listener: (payload: string) => void, payload: string): void {
    const { storm } = this.world;
    if (this.dead || storm.chance(storm.plan.hintLoss)) return;
    if (this.frozenUntil > Date.now()) setTimeout(() => this.dead || listener(payload), this.frozenUntil - Date.now());
    else listener(payload);
  }
}
