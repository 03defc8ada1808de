import { rateWindow } from '@conclave/calls';
import { collectionsSetting, Failure } from '@conclave/contracts';
import {
  MemoryBlobs,
  MemoryBroker,
  MemoryGraphStore,
  MemoryStores,
  MemoryVectorStore,
  type Blobs,
  type Clock,
  type EncodedRecord,
} from '@conclave/ports';
import type { CoverageNote, CrashTarget } from '../faults/crash-points.js';
import { hashText, randomFrom, type Random } from '../faults/random.js';
import { planStorm, processSlots, type StormPlan } from '../faults/storm-plan.js';
import { SimulatedClient, type ClientPlan } from './client.js';
import { Observations } from './observations.js';
import { observe, watchCaches } from './observe.js';
import { Owner, type OwnerPlan } from './owner.js';
import { SimulatedProcess } from './simulated-process.js';
import { Storm } from './storm.js';
import type { LivingProcess, ModelWorld, Observe, Planted, Surroundings } from './surroundings.js';
import { collection, templatesOf } from './templates.js';
import { upload } from './uploader.js';
import { beginning, sleep, virtualNow } from './virtual-time.js';

/** A topic that each service consumes. */
const poisonTopics: Readonly<Record<string, string>> = {
  planner: 'gap.detected',
  merger: 'results.ready',
  experts: 'tasks.dispatched.expert',
  'graph-ingest': 'run.completed',
};

export interface WorldOptions {
  readonly seed: number;
  readonly target: CrashTarget | null;
  readonly planted?: Planted;
  readonly cover: (note: CoverageNote) => void;
  /** Receives every line of the trace, if set. */
  readonly line?: (line: string) => void;
}

/** A topic without further hops contains no number, so its question is trivial and is looked up first. */
const questionOn = (n: number, hops: number): string =>
  `What is topic t${String.fromCharCode(97 + n)}q${hops > 0 ? `, hops ${hops}` : ''}?`;

/** A whole simulated system: the stores, the processes that come and go, the clients, and what was observed. */
export class World implements Surroundings {
  readonly plan: StormPlan;
  /** Why a process could not start although its stores were available: then this world is not a model of the product. */
  broken: Error | null = null;
  readonly observations = new Observations();
  readonly clock: Clock;
  readonly stores: MemoryStores;
  readonly broker: MemoryBroker;
  readonly blobs: Blobs = new MemoryBlobs();
  readonly graphStore = new MemoryGraphStore();
  readonly vectorStore = new MemoryVectorStore();
  readonly storm: Storm;
  readonly models: ModelWorld;
  readonly planted: Planted;
  readonly templates: ReturnType<typeof templatesOf>;
  readonly observe: Observe = (process, point, args, result) => observe(this, process, point, args, result);
  readonly logged = new Set<string>();
  /** Hash of the trace so far. */
  traceHash = 0x811c9dc5;
  private readonly random: Random;
  private readonly living = new Map<string, SimulatedProcess>();
  private readonly incarnations = new Map<string, number>();
  private readonly clients: SimulatedClient[] = [];
  private waitingForGateway: (() => void)[] = [];
  private closing = false;
  private starting = 0;
  private coming = 0;
  /** Actions of clients in progress. */
  private asking = 0;

  constructor(private readonly options: WorldOptions) {
    const { seed, target } = options;
    this.plan = planStorm(seed, target);
    this.random = randomFrom(seed).fork('world');
    this.planted = options.planted ?? {};
    this.models = { random: randomFrom(seed).fork('models'), calls: 0 };
    this.templates = templatesOf(this.plan);
    const chance = randomFrom(seed).fork('clock');
    this.clock = {
      now: () => virtualNow(),
      random: () => chance.next(),
      after: (ms, call) => {
        const timer = setTimeout(call, ms);
        return () => clearTimeout(timer);
      },
    };
    this.storm = new Storm(this.plan, seed, this.observations, (process, what) => this.trace(process, what), options.cover);
    this.stores = new MemoryStores({ clock: this.clock, between: () => this.betweenHalves() });
    this.planted.stores?.(this.stores);
    this.planted.vectors?.(this.vectorStore);
    watchCaches(this, this.stores);
    this.broker = new MemoryBroker({ clock: this.clock, blobs: this.blobs });
  }

  /** Time between reading and writing of a commit, in which another process may commit. */
  private betweenHalves(): Promise<void> {
    return this.storm.chance(this.plan.delay) ? sleep(this.storm.lateMs(this.plan.longestDelayMs)) : Promise.resolve();
  }

  readonly appended = (records: readonly EncodedRecord[]): void => {
    for (const { topic, headers } of records) this.logged.add(`${topic} ${headers.ce_id}`);
  };

  trace(process: string, what: string): void {
    const line = `${virtualNow() - beginning} ${process} ${what}`;
    this.traceHash = hashText(line, this.traceHash);
    this.options.line?.(line);
  }

  readonly newRunId = (): string =>
    `run_${Array.from({ length: 3 }, () =>
      this.random
        .below(2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    ).join('')}`;

  openRuns(): number {
    let open = 0;
    for (const row of this.stores.runs.rows.values()) if (!row.terminal) open += 1;
    return open;
  }

  busy(): boolean {
    return this.openRuns() > 0 || this.asking > 0 || this.lag().length > 0;
  }

  async during<T>(act: () => Promise<T>): Promise<T> {
    this.asking += 1;
    try {
      return await act();
    } finally {
      this.asking -= 1;
    }
  }

  private ownerPlan({ caller, seen }: SimulatedClient): OwnerPlan {
    const { rates, deletes, deletesEarly, directs, tenants } = this.plan;
    const random = this.random.fork(`owner of ${seen.name}`);
    const stranger = { tenant: caller.tenant === 'default' ? 'other' : 'default', actor: 'stranger' };
    const isDeleted = random.chance(deletes);
    return {
      ...{ caller, directs, stranger: tenants ? stranger : null },
      rates: random.chance(rates) ? random.between(1, 5) : null,
      ...{ deletes: isDeleted, deletesEarly: isDeleted && random.chance(deletesEarly) },
    };
  }

  begin(): void {
    this.stores.mark = { storeId: 'simulated', generation: 1 };
    this.broker.mark = this.stores.mark;
    for (const slot of processSlots) this.launch(slot);
    for (const plan of this.clientPlans()) {
      const client = new SimulatedClient(this, plan, this.random);
      this.clients.push(client);
      void client.live();
      this.coming += 1;
      void new Owner(this, client.seen, this.ownerPlan(client), this.random).live().then(() => (this.coming -= 1));
    }
    this.planUploads();
    this.planWeather();
  }

  private planUploads(): void {
    const { uploads, features } = this.plan;
    if (!features.documents) return;
    const collections = [{ name: collection, description: '', createdAt: beginning }];
    void this.stores.settings.write(collectionsSetting('default'), 0, { collections });
    for (let n = 0; n < uploads; n += 1) {
      this.coming += 1;
      void upload(this, this.random.fork(`upload ${n}`), n).then(() => (this.coming -= 1));
    }
  }

  private planWeather(): void {
    const { freezes, rebalances, restarts, kills, poison, outages } = this.plan;
    const { excuses } = this.observations;
    const at = (ms: number, act: () => void): void => void setTimeout(act, ms);
    for (const { process, from, to } of outages)
      for (const slot of process === null ? processSlots : [process])
        excuses.push({ process: slot, from: beginning + from, to: beginning + to });
    for (const { process, at: ms, forMs } of freezes) {
      excuses.push({ process, from: beginning + ms, to: beginning + ms + forMs });
      at(ms, () => this.living.get(process)?.freeze(forMs));
    }
    for (const { process, at: ms } of rebalances) at(ms, () => this.living.get(process)?.rebalance(this.random.between(50, 3_000)));
    for (const { process, at: ms } of restarts) at(ms, () => void this.roll(process));
    for (const { process, at: ms } of kills) at(ms, () => this.living.get(process)?.die('at no chosen point'));
    for (const ms of poison) at(ms, () => this.addPoison());
  }

  private addPoison(): void {
    const { target } = this.plan;
    const topic = target?.need === 'poison' ? poisonTopics[target.service]! : this.random.pick(Object.values(poisonTopics));
    this.observations.poison += 1;
    this.broker.append([{ topic, key: null, headers: { ce_specversion: '1.0' }, raw: Buffer.from('{') }]);
  }

  private clientPlans(): ClientPlan[] {
    const { clients, rounds, largeQuestion, twins, sameKey, cancels, impatient, pauses, features, tenants } = this.plan;
    const { random } = this;
    const templateOf = (asksWaves: boolean) => (features.topics ? 'tree' : asksWaves ? 'waves' : 'committee');
    const plan = (n: number): ClientPlan => ({
      name: `client-${n}`,
      tenant: tenants && n % 2 === 1 ? 'other' : 'default',
      startsAt: random.between(0, 1_500),
      idempotent: twins ? sameKey : random.chance(0.5),
      key: twins ? 'twins' : `client-${n}`,
      template: templateOf(random.chance(features.waves)),
      question: `${questionOn(twins ? 0 : n, random.below(rounds + 1))}${largeQuestion ? ' so'.repeat(23_000) : ''}`,
      cancelsAfter: random.chance(cancels) ? random.between(0, this.plan.target?.need === 'early' ? 200 : 4_000) : null,
      impatientMs: random.chance(impatient) ? random.between(1, 300) : null,
      leaves: random.chance(this.plan.target?.need === 'cancel' || this.plan.target?.need === 'parked' ? 0.8 : 0.5),
      reconnects: random.pick([0, 0, 1, 3]),
      pausesAfter: random.chance(pauses) ? random.between(0, 3_000) : null,
    });
    const plans = Array.from({ length: twins || tenants ? Math.max(2, clients) : clients }, (_, n) => plan(n));
    const { question, template, startsAt } = plans[0]!;
    // One request at two gateways at the same moment, or the same question some time later.
    return twins ? plans.map((one) => ({ ...one, question, template, ...(sameKey ? { startsAt } : {}) })) : plans;
  }

  private launch(slot: string): void {
    const n = (this.incarnations.get(slot) ?? 0) + 1;
    this.incarnations.set(slot, n);
    const process = new SimulatedProcess(this, slot, `${slot}.${n}`);
    this.living.set(slot, process);
    this.starting += 1;
    void process.gone().then(() => {
      if (process.gateway === null && !this.started.has(process)) this.noteStarted(process);
    });
    process.start().then(
      () => {
        this.noteStarted(process);
        if (process.gateway) for (const tell of this.waitingForGateway.splice(0)) tell();
      },
      (error: unknown) => {
        // A process whose stores are unavailable ends, and its supervisor starts it again; no other error is simulated.
        if (!(error instanceof Failure)) this.broken ??= new Error(`${process.id} cannot start.`, { cause: error });
        process.die('while it starts');
      },
    );
  }

  private readonly started = new Set<SimulatedProcess>();
  private noteStarted(process: SimulatedProcess): void {
    if (this.started.has(process)) return;
    this.started.add(process);
    this.starting -= 1;
  }

  restart(process: LivingProcess): void {
    if (this.closing || this.living.get(process.slot) !== process) return;
    setTimeout(() => this.closing || this.launch(process.slot), this.storm.lateMs(this.plan.restartMs));
  }

  private async roll(slot: string): Promise<void> {
    const process = this.living.get(slot);
    if (!process || process.dead || this.closing || !this.started.has(process)) return;
    this.trace(process.id, 'is told to stop');
    const limit = setTimeout(() => process.die('while it stops'), 20_000);
    await process.stop().catch(() => process.die('while it stops'));
    clearTimeout(limit);
    this.restart(process);
  }

  async someGateway(random: Random): Promise<SimulatedProcess> {
    for (;;) {
      const ready = [...this.living.values()].filter((process) => process.gateway !== null && !process.dead);
      if (ready.length > 0) return random.pick(ready);
      await new Promise<void>((resolve) => this.waitingForGateway.push(resolve));
    }
  }

  dispatch(): void {
    for (const group of this.groups()) this.broker.group(group).dispatch();
  }

  groups(): readonly string[] {
    return ['planner', 'merger', 'learning', 'webhooks', 'graph-ingest', 'tasks.expert', 'tasks.evidence', 'tasks.judge'];
  }

  lag(): readonly string[] {
    return this.groups().flatMap((group) =>
      this.broker.lag(group).flatMap(({ topic, records }) => (records === 0 ? [] : [`${group} ${topic}: ${records}`])),
    );
  }

  later(ms: number, act: () => void): void {
    this.coming += 1;
    setTimeout(() => {
      this.coming -= 1;
      act();
    }, ms);
  }

  /** Whether everything scheduled has happened. */
  quiet(): boolean {
    if (!this.storm.over || this.starting > 0 || this.coming > 0 || this.asking > 0) return false;
    for (const { dead, inFlight, frozenUntil } of this.living.values()) if (dead || inFlight > 0 || frozenUntil > Date.now()) return false;
    if (this.openRuns() > 0 || this.observations.clients.some(({ finished }) => !finished)) return false;
    return this.stores.deliveries.open().length === 0 && this.heldPlaces().length === 0 && this.lag().length === 0;
  }

  /** Provider slots in use. Slots that only count calls are never given back: they expire. */
  heldPlaces(): readonly string[] {
    return this.stores.leases.heldSlots().filter((place) => !place.startsWith(rateWindow));
  }

  /** Stops everything. */
  halt(): void {
    this.closing = true;
    for (const process of this.living.values()) process.dead = true;
  }

  /** Every process ends in an orderly way. */
  async close(): Promise<void> {
    this.closing = true;
    await Promise.all([...this.living.values()].filter(({ dead }) => !dead).map((process) => process.stop()));
  }
}
