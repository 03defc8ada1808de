import {
  MemoryAllowances,
  MemoryBreakers,
  MemoryClaims,
  MemoryLeases,
  type Allowances,
  type Breakers,
  type Caches,
  type Clock,
  type DeliveryLedger,
  type Folding,
  type Journal,
  type Leases,
  type Once,
  type Recovery,
  type Runs,
  type Scores,
  type Settings,
  type StateStore,
  type StoreTtl,
  type Timers,
  type UsageLedger,
} from '@conclave/ports';
import { DatabaseView, type Database } from '../database/database.js';
import type { LogTable } from '../event-log/log-table.js';
import { SqliteRunStream } from '../run-stream.js';
import { Streams } from '../streams.js';
import { SqliteBlobs } from '../blobs.js';
import { SqliteCaches } from './caches.js';
import { CancelFlags } from './cancel-flags.js';
import { SqliteClients } from './clients.js';
import { DeliveryCounts, SqliteDeliveries } from './deliveries.js';
import { ProcessHints } from './hints.js';
import { stateIdentity } from './identity.js';
import { SqliteJournal } from './journal.js';
import { JournalOutcomes } from './journal-outcomes.js';
import { JournalSteps } from './journal-steps.js';
import { KeptRuns } from './kept-runs.js';
import { SqliteOnce } from './once.js';
import { SqliteRecovery } from './recovery.js';
import { SqliteRuns } from './runs.js';
import { SqliteScores } from './scores.js';
import { SqliteSettings } from './settings.js';
import { SqliteTimers, type TimerWaiters } from './timers.js';
import { Accounts, SqliteUsageLedger } from './usage-ledger.js';

/** Shared by all users of one database inside the process. */
export class SharedState {
  readonly hints = new ProcessHints();
  readonly leases: MemoryLeases;
  readonly claims: MemoryClaims;
  /** In memory like the leases: each start judges its providers again. */
  readonly breakers: MemoryBreakers;
  /** In memory: a reservation ends with the process that holds it. */
  readonly allowances: MemoryAllowances;
  readonly waiting: TimerWaiters = new Map();
  readonly deliveries: DeliveryCounts;
  readonly streams: Streams;
  readonly runs: KeptRuns;
  readonly flags: CancelFlags;
  readonly steps: JournalSteps;
  readonly accounts: Accounts;
  readonly outcomes: JournalOutcomes;
  readonly openedAt: number;

  constructor(
    readonly database: Database,
    readonly log: LogTable,
    readonly clock: Clock,
    readonly ttl: StoreTtl,
    folding: Folding | null = null,
  ) {
    this.openedAt = clock.now();
    this.deliveries = new DeliveryCounts(database, log.suspects);
    this.streams = new Streams(database);
    this.runs = new KeptRuns({ database, log, clock, folding, stateStored: () => database.counter?.stateStored() });
    this.flags = new CancelFlags(database);
    this.steps = new JournalSteps(database);
    this.accounts = new Accounts(database);
    this.outcomes = new JournalOutcomes(database, log, new SqliteBlobs(database, () => clock.now()));
    this.leases = new MemoryLeases(() => clock.now(), this.hints);
    this.claims = new MemoryClaims(() => clock.now());
    this.breakers = new MemoryBreakers(() => clock.now());
    this.allowances = new MemoryAllowances(() => clock.now(), this.accounts.ledger);
  }

  /** Drops everything in memory, so that it is read again after someone else wrote to the file. */
  forgetAll(): void {
    for (const kept of [this.streams, this.runs, this.flags, this.steps]) kept.forgetAll();
  }

  forget(runId: string): void {
    for (const kept of [this.streams, this.runs, this.flags, this.steps]) kept.forget(runId);
  }

  close(): void {
    this.runs.storeBehind();
    for (const wake of [...this.waiting.keys()]) wake();
    this.hints.close();
  }
}

/** The state store and the run stream as one process id sees them. Closing it leaves the database open. */
export class SqliteState implements StateStore {
  readonly runs: Runs;
  readonly journal: Journal;
  readonly timers: Timers;
  readonly leases: Leases;
  readonly hints: ProcessHints;
  readonly deliveries: Required<DeliveryLedger>;
  readonly settings: Settings;
  readonly caches: Caches;
  readonly scores: Scores;
  readonly once: Once;
  readonly usage: UsageLedger;
  readonly breakers: Breakers;
  readonly allowances: Allowances;
  readonly identity: StateStore['identity'];
  readonly stream: SqliteRunStream;
  /** Rebuilds the state from the log. */
  readonly recovery: Recovery;
  private readonly view: DatabaseView;

  constructor(
    private readonly shared: SharedState,
    processId: string,
  ) {
    const { clock, hints, leases, log, ttl } = shared;
    const now = () => clock.now();
    const database = new DatabaseView(shared.database);
    const timers = new SqliteTimers(database, clock, shared.waiting);
    this.view = database;
    this.stream = new SqliteRunStream(database, shared.streams, hints, now, ttl.streamMs);
    const clients = new SqliteClients({ database, flags: shared.flags, leases, now, processId, openedAt: shared.openedAt });
    this.runs = new SqliteRuns({
      ...{ database, log, stream: this.stream, timers, hints, clients, now },
      ...{ runs: shared.runs, flags: shared.flags, blobs: new SqliteBlobs(database, now) },
      forget: (runId) => shared.forget(runId),
      retryKeyMs: ttl.retryKeyMs,
    });
    this.journal = new SqliteJournal(database, shared.steps, shared.outcomes, shared.accounts, leases, log.erased, now);
    this.timers = timers;
    this.leases = leases;
    this.hints = hints;
    this.deliveries = new SqliteDeliveries(database, shared.deliveries, leases, processId);
    this.settings = new SqliteSettings(database, now);
    this.caches = new SqliteCaches(database, shared.claims, now);
    this.scores = new SqliteScores(database, now);
    this.once = new SqliteOnce(database, now);
    this.usage = new SqliteUsageLedger(database);
    this.breakers = shared.breakers;
    this.allowances = shared.allowances;
    this.identity = stateIdentity(database);
    this.recovery = new SqliteRecovery({ database, erased: log.erased, leases, timers, forget: (runId) => shared.forget(runId), now, ttl });
  }

  durable(): Promise<void> {
    return this.view.durable();
  }

  now(): Promise<number> {
    return Promise.resolve(this.shared.clock.now());
  }

  warnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  health(): Promise<string | null> {
    return Promise.resolve(this.view.health());
  }

  close(): Promise<void> {
    this.view.close();
    return Promise.resolve();
  }
}
