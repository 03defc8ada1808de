import { type Failure, isTerminal, type PlanRequested, type StreamBody, type StreamEntry, type WorkerEntry } from '@conclave/contracts';
import {
  MemoryStores as KeptStores,
  parkedFlag,
  planAppend,
  type AcceptRequest,
  type AcceptResult,
  type ErasedRun,
  type RunStream,
  type RunSummary,
  type StateStore,
  type StoredRun,
  type StreamPage,
  type TaskProgress,
} from '@conclave/ports';

/** What the engine has stored. */
export interface FakeRun {
  readonly runId: string;
  readonly status: string;
  readonly terminal: boolean;
  readonly entries: readonly StreamBody[];
  /** Commands that reached the run. */
  readonly commands: readonly { readonly seq: number; readonly key: string | null }[];
  /** The question or tool calls that the run waits for. */
  readonly question: { readonly text: string; readonly calls?: unknown } | null;
}

const unused = (name: string) => () => {
  throw new Error(`${name} is not used by the gateway`);
};

/** The part of a state store that the gateway uses, with run streams and switches for outages. Several gateways may share one. */
export class MemoryStores {
  readonly headers = new Map<string, PlanRequested>();
  readonly retries = new Map<string, string>();
  readonly stored = new Map<string, StoredRun<FakeRun>>();
  readonly flagged = new Set<string>();
  readonly tombstones = new Map<string, ErasedRun>();
  readonly attached = new Map<string, Set<string>>();
  readonly streams = new Map<string, StreamEntry[]>();
  /** Reads of run streams, by run. */
  readonly reads: string[] = [];
  subscriptions = 0;
  /** When set, every call of the state store fails with it. */
  outage: Failure | null = null;
  streamOutage: Failure | null = null;
  red: string | null = null;
  /** While true, hints are lost. */
  deaf = false;
  /** First id the stream still holds. */
  readonly trimmed = new Map<string, number>();
  private readonly sequence = new Map<string, number>();
  private readonly progress = new Map<string, TaskProgress>();
  private readonly listeners = new Map<string, Set<(payload: string) => void>>();

  /** Idempotency keys of commands by run and number, as the engine reads them from the command. */
  readonly keys = new Map<string, string>();

  /** Settings, caches, scores and claims. */
  readonly kept = new KeptStores();

  readonly state: StateStore = {
    runs: {
      accept: (request) => this.guarded(() => this.accept(request)),
      findRetry: (key) => this.guarded(() => this.retries.get(key) ?? null),
      erase: ({ runId, ...run }) =>
        this.guarded(() => {
          if (this.headers.has(runId) && !this.stored.get(runId)?.terminal) return 'open';
          if (!this.tombstones.has(runId)) this.tombstones.set(runId, { runId, ...run, erasedAt: Date.now() });
          for (const ofRun of [this.headers, this.stored, this.streams]) ofRun.delete(runId);
          return 'erased';
        }),
      erased: (runId) => this.guarded(() => this.tombstones.get(runId) ?? null),
      header: (runId) => this.guarded(() => this.headers.get(runId) ?? null),
      unpublished: unused('unpublished'),
      commit: unused('commit'),
      read: <S>(runId: string) => this.guarded(() => (this.stored.get(runId) as StoredRun<S> | undefined) ?? null),
      list: ({ tenant, limit, before }) => this.guarded(() => this.list(tenant, limit, before)),
      openCount: () => this.guarded(() => this.open()),
      cancel: (id) =>
        this.guarded(() => {
          this.flagged.add(id);
          this.hint('cancel', id);
        }),
      cancelled: (ids) => this.guarded(() => new Set(ids.filter((id) => this.flagged.has(id) || this.stored.get(id)?.terminal))),
      nextCommandSeq: (runId) =>
        this.guarded(() => {
          const next = (this.sequence.get(runId) ?? 0) + 1;
          this.sequence.set(runId, next);
          return next;
        }),
      attach: (runId, clientId) => this.guarded(() => this.clients(runId).add(clientId).size),
      detach: (runId, clientId) =>
        this.guarded(() => {
          this.clients(runId).delete(clientId);
          return this.clients(runId).size;
        }),
      leave: (runId, clientId) =>
        this.guarded(() => {
          this.clients(runId).delete(clientId);
          const left = this.clients(runId).size;
          if (left === 0) this.flagged.add(parkedFlag(runId));
          return left;
        }),
      park: unused('park'),
    },
    journal: {
      begin: unused('journal'),
      finish: unused('journal'),
      abandon: unused('journal'),
      started: unused('journal'),
      noteRepeat: unused('journal'),
      repeats: unused('journal'),
    },
    timers: { due: unused('timers'), remove: unused('timers'), wait: unused('timers') },
    leases: {
      renewProcess: unused('leases'),
      endProcess: unused('leases'),
      alive: unused('leases'),
      liveWorkers: unused('leases'),
      live: () => this.kept.leases.live(),
      slotsHeld: (name) => this.kept.leases.slotsHeld(name),
      acquireSlot: (slot) => this.kept.leases.acquireSlot(slot),
      releaseSlot: async (slot) => {
        await this.kept.leases.releaseSlot(slot);
        this.hint('slot', slot.name);
      },
    },
    hints: {
      publish: (channel, payload) => Promise.resolve(this.hint(channel, payload)),
      subscribe: (channel, listener) => {
        this.subscriptions += 1;
        const listeners = this.listeners.get(channel) ?? new Set();
        this.listeners.set(channel, listeners.add(listener));
        return Promise.resolve(async () => {
          this.subscriptions -= 1;
          listeners.delete(listener);
        });
      },
    },
    deliveries: { begin: unused('deliveries'), failed: unused('deliveries'), released: unused('deliveries'), done: unused('deliveries') },
    settings: {
      read: (name) => this.guarded(() => this.kept.settings.read(name)),
      write: (name, version, value) => this.guarded(() => this.kept.settings.write(name, version, value)),
      remove: (name, version) => this.guarded(() => this.kept.settings.remove(name, version)),
      list: (prefix) => this.guarded(() => this.kept.settings.list(prefix)),
      versions: (name) => this.guarded(() => this.kept.settings.versions(name)),
      readVersion: (name, version) => this.guarded(() => this.kept.settings.readVersion(name, version)),
    },
    caches: this.kept.caches,
    scores: this.kept.scores,
    once: this.kept.once,
    usage: this.kept.usage,
    breakers: this.kept.breakers,
    allowances: this.kept.allowances,
    identity: { read: unused('identity'), start: unused('identity') },
    durable: () => Promise.resolve(),
    now: () => this.guarded(() => Date.now()),
    warnings: () => Promise.resolve([]),
    health: () => Promise.resolve(this.red),
    close: () => Promise.resolve(),
  };

  readonly stream: RunStream = {
    append: (runId, entries) => {
      if (this.streams.get(runId)?.some(isTerminal)) return Promise.resolve('refused');
      const plan = planAppend((taskId) => this.progress.get(taskId) ?? null, entries);
      if (plan.kind === 'refused') return Promise.resolve('refused');
      for (const [taskId, progress] of plan.progress) this.progress.set(taskId, progress);
      this.write(runId, plan.bodies);
      return Promise.resolve('appended');
    },
    read: (runId, after, limit) => {
      this.reads.push(runId);
      if (this.streamOutage) return Promise.reject(this.streamOutage);
      const all = this.streams.get(runId) ?? [];
      const first = this.trimmed.get(runId) ?? all[0]?.id ?? 0;
      const page: StreamPage = {
        entries: all.filter(({ id }) => id > after && id >= first).slice(0, limit),
        first,
        last: all.at(-1)?.id ?? 0,
        ended: all.some(isTerminal),
      };
      return Promise.resolve(page);
    },
  };

  /** Appends an entry as the engine does and updates the state. */
  write(runId: string, bodies: readonly StreamBody[]): void {
    const entries = this.streams.get(runId) ?? [];
    for (const body of bodies) entries.push({ ...body, id: entries.length + 1, at: Date.now() });
    this.streams.set(runId, entries);
    const end = entries.find(isTerminal) as Extract<StreamBody, { kind: 'run.completed' }> | undefined;
    const last = entries.findLast(({ kind }) => kind === 'question.asked' || kind === 'command.applied' || kind === 'run.completed');
    const question = last?.kind === 'question.asked' ? { text: last.question, ...(last.calls ? { calls: last.calls } : {}) } : null;
    const commands = entries.flatMap((entry) =>
      entry.kind === 'command.accepted' ? [{ seq: entry.seq, key: this.keys.get(`${runId}/${entry.seq}`) ?? null }] : [],
    );
    const held = entries.findLast((entry) => entry.kind === 'command.applied' && (entry.name === 'pause' || entry.name === 'resume'));
    const isPaused = held?.kind === 'command.applied' && held.name === 'pause';
    const status = end?.outcome ?? (isPaused ? 'paused' : question ? 'waiting' : 'collecting');
    const state: FakeRun = { runId, status, terminal: end !== undefined, entries, commands, question };
    this.stored.set(runId, { version: entries.length, state, status: state.status, terminal: state.terminal });
    this.hint('stream', runId);
  }

  worker(runId: string, entries: readonly WorkerEntry[]): Promise<'appended' | 'refused'> {
    return this.stream.append(runId, entries);
  }

  clients(runId: string): Set<string> {
    const clients = this.attached.get(runId) ?? new Set<string>();
    this.attached.set(runId, clients);
    return clients;
  }

  private hint(channel: string, payload: string): void {
    if (this.deaf) return;
    for (const listener of this.listeners.get(channel) ?? []) queueMicrotask(() => listener(payload));
  }

  private open(): number {
    return [...this.headers.keys()].filter((runId) => !this.stored.get(runId)?.terminal).length;
  }

  private accept({ header, retryKey, openLimit }: AcceptRequest): AcceptResult {
    if (this.tombstones.has(header.runId)) return { kind: 'erased' };
    const known = this.headers.has(header.runId);
    if (!known && this.open() >= openLimit) return { kind: 'overloaded', open: this.open() };
    if (!known) this.headers.set(header.runId, header);
    if (retryKey !== null && !this.retries.has(retryKey)) this.retries.set(retryKey, header.runId);
    return { kind: 'accepted' };
  }

  private list(tenant: string, limit: number, before = Number.MAX_SAFE_INTEGER): readonly RunSummary[] {
    const own = [...this.headers.values()].filter(({ data }) => data.caller.tenant === tenant).reverse();
    return own
      .map((header, index) => ({
        runId: header.runId,
        template: header.data.template.id,
        status: this.stored.get(header.runId)?.status ?? 'accepted',
        terminal: this.stored.get(header.runId)?.terminal ?? false,
        acceptedAt: own.length - index,
        question: header.data.goal,
      }))
      .filter(({ acceptedAt }) => acceptedAt < before)
      .slice(0, limit);
  }

  private guarded<T>(act: () => T | Promise<T>): Promise<T> {
    if (this.outage) return Promise.reject(this.outage);
    return Promise.resolve(act());
  }
}
