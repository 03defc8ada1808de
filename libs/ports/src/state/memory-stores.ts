import { Failure } from '@conclave/contracts';
import { systemClock, type Clock } from '../event-log/clock.js';
import type { StoreMark } from '../event-log/event-log.js';
import { MemoryRunStream } from '../run-stream/memory-run-stream.js';
import type { RunStream } from '../run-stream/run-stream.js';
import { defaultTtl, type StoreTtl } from './limits.js';
import { amountOf } from './allowances.js';
import { forgettable } from './forgettable.js';
import { MemoryAllowances } from './memory-allowances.js';
import { MemoryBreakers } from './memory-breakers.js';
import { MemoryCaches } from './memory-caches.js';
import { MemoryHints } from './memory-hints.js';
import { MemoryJournal } from './memory-journal.js';
import { LeasedDeliveries, MemoryLeases } from './memory-leases.js';
import { MemoryOnce } from './memory-once.js';
import { MemoryRuns } from './memory-runs.js';
import { MemoryScores } from './memory-scores.js';
import { MemorySettings } from './memory-settings.js';
import { MemoryTimers } from './memory-timers.js';
import { MemoryUsageLedger } from './memory-usage-ledger.js';
import type { Runs, StateStore } from './state.js';

export interface MemoryStoresOptions {
  readonly clock?: Clock;
  /** Streams, retry mappings and cached values expire; everything else lives as long as the stores. */
  readonly ttl?: Partial<StoreTtl>;
  /** Awaited between the reading and the writing half of a commit, so that another process can interleave. */
  readonly between?: () => Promise<void>;
}

/**
 * In-memory state store and run stream: the part that outlives a process. Any number of processes connect to it. Its parts are public, so
 * that a test can inspect or replace them.
 */
export class MemoryStores {
  readonly clock: Clock;
  readonly hints = new MemoryHints();
  readonly leases: MemoryLeases;
  readonly deliveries: LeasedDeliveries;
  readonly journal: MemoryJournal;
  readonly timers: MemoryTimers;
  readonly stream: MemoryRunStream;
  readonly runs: MemoryRuns;
  readonly settings: MemorySettings;
  readonly caches: MemoryCaches;
  readonly scores = new MemoryScores();
  readonly once: MemoryOnce;
  readonly usage: MemoryUsageLedger;
  readonly breakers: MemoryBreakers;
  readonly allowances: MemoryAllowances;
  mark: StoreMark | null = null;

  constructor({ clock = systemClock, ttl = {}, between }: MemoryStoresOptions = {}) {
    const now = () => clock.now();
    const { streamMs, retryKeyMs } = { ...defaultTtl, ...ttl };
    this.clock = clock;
    this.leases = new MemoryLeases(now, this.hints);
    this.deliveries = new LeasedDeliveries((processId) => this.leases.leftMs(processId) > 0);
    this.usage = new MemoryUsageLedger((runId) => this.runs.rows.get(runId)?.header?.data.caller ?? null);
    this.journal = new MemoryJournal(
      now,
      (processId) => this.leases.leftMs(processId),
      this.usage,
      (runId) => this.runs.rows.get(runId)?.erased !== undefined,
    );
    this.timers = new MemoryTimers(clock);
    this.settings = new MemorySettings(now);
    this.caches = new MemoryCaches(now);
    this.once = new MemoryOnce(now);
    this.breakers = new MemoryBreakers(now);
    this.allowances = new MemoryAllowances(now, {
      account: (account) => amountOf(this.usage.accountSum(account)),
      run: (runId) => amountOf(this.usage.runSum(runId)),
    });
    this.stream = new MemoryRunStream(now, streamMs, this.hints);
    const { stream, timers, hints } = this;
    const alive = (processId: string): boolean => this.leases.leftMs(processId) > 0;
    const forget = (runId: string): void => this.journal.forget(runId);
    this.runs = new MemoryRuns({ now, retryKeyMs, stream, timers, hints, alive, forget, ...(between ? { between } : {}) });
  }

  /** The stores as another process sees them. */
  connect(processId: string): MemoryConnection {
    let open = true;
    const guard = <T extends object>(part: T): T => whileOpen(part, () => open);
    const state: StateStore = {
      runs: guard(ownedBy(this.runs, processId)),
      journal: guard(this.journal),
      timers: guard(this.timers),
      leases: guard(this.leases),
      hints: guard(this.hints),
      deliveries: guard(this.deliveries.ledger(processId)),
      settings: guard(this.settings),
      caches: guard(this.caches),
      scores: guard(this.scores),
      once: guard(this.once),
      usage: guard(this.usage),
      breakers: guard(this.breakers),
      allowances: guard(this.allowances),
      identity: guard({
        read: async () => this.mark,
        start: async (storeId: string) =>
          (this.mark = this.mark ? { ...this.mark, generation: this.mark.generation + 1 } : { storeId, generation: 1 }),
      }),
      durable: async () => undefined,
      published: (outputs) => {
        const { steps, calls } = forgettable(outputs);
        for (const step of steps) this.runs.published(step);
        for (const call of calls) this.journal.published(call);
      },
      now: async () => this.clock.now(),
      warnings: async () => [],
      health: async () => (open ? null : 'The state store was closed.'),
      close: async () => void (open = false),
    };
    return { processId, state, stream: guard(this.stream) };
  }
}

/** The runs as one process sees them: it owns the clients that it attaches. */
const ownedBy = (runs: MemoryRuns, processId: string): Runs =>
  new Proxy<Runs>(runs, {
    get(target, name) {
      if (name === 'attach' || name === 'detach' || name === 'leave')
        return (runId: string, clientId: string) => runs[name](runId, clientId, processId);
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });

/** The stores of one process. */
export interface MemoryConnection {
  readonly processId: string;
  readonly state: StateStore;
  readonly stream: RunStream;
}

/** The same object, but its methods reject with STORE_UNAVAILABLE once it is closed. */
function whileOpen<T extends object>(part: T, isOpen: () => boolean): T {
  return new Proxy(part, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown =>
        isOpen() ? Reflect.apply(member, target, args) : Promise.reject(new Failure('STORE_UNAVAILABLE', 'It was closed.'));
    },
  });
}
