import type { EngineEntry, Event, PlanRequested } from '@conclave/contracts';
import type { DeliveryLedger, StoreMark } from '../event-log/event-log.js';
import type { Allowances } from './allowances.js';
import type { Breakers } from './breaker.js';
import type { Caches } from './caches.js';
import type { Once } from './once.js';
import type { Scores } from './scores.js';
import type { Settings } from './settings.js';
import type { Paid, UsageLedger } from './usage-ledger.js';

/**
 * The state store: runs, journal, timers, leases, hints, deliveries, settings, caches, scores, usage, breakers and allowances, behind one
 * adapter and one atomic `commit`. Adapters: SQLite (embedded) and Redis. Every call throws Failure STORE_UNAVAILABLE when the store does
 * not answer, STORE_REPLACED when it is empty or older than the log, STORE_FULL when it cannot grow. Every write is idempotent.
 */
export interface StateStore {
  readonly runs: Runs;
  readonly journal: Journal;
  readonly timers: Timers;
  readonly leases: Leases;
  readonly hints: Hints;
  readonly deliveries: DeliveryLedger;
  readonly settings: Settings;
  readonly caches: Caches;
  readonly scores: Scores;
  readonly once: Once;
  readonly usage: UsageLedger;
  readonly breakers: Breakers;
  readonly allowances: Allowances;
  /**
   * The store's own mark; null on a new store. `start` creates one (`storeId` given) or raises the generation by one, and returns the
   * result.
   */
  readonly identity: {
    read(): Promise<StoreMark | null>;
    start(storeId: string): Promise<StoreMark>;
  };
  /**
   * Resolves when every write acknowledged to this process is durable: call it before showing its effects outside. A store whose writes
   * are durable when they resolve returns at once. Rejects if the store is closed first.
   */
  durable(): Promise<void>;
  /**
   * Reports that all outputs of a delivery are on the log. The store may then forget what it keeps only to publish them again: outputs of a
   * step and outcomes of calls. It does so later, or never if the process dies first. Absent if bodies are only kept on the log. Never
   * throws.
   */
  published?(outputs: readonly Event[]): void;
  /** Milliseconds since 1970 by the store's clock: never ahead of it, and behind it by at most the time that a reply took. */
  now(): Promise<number>;
  /** Sentences about missing guarantees of this store (for example Redis without `appendfsync always`), shown at start-up. */
  warnings(): Promise<readonly string[]>;
  health(): Promise<string | null>;
  close(): Promise<void>;
}

export interface Runs {
  /**
   * Stores the first durable trace of a run, if absent: its header, retry mapping and place in the open set. Refused (nothing written) when
   * `openLimit` runs are open; a repeated acceptance of the same run id is `accepted`. A child run is never refused, counted as open or
   * listed.
   */
  accept(request: AcceptRequest): Promise<AcceptResult>;
  /** Run of an earlier equal request of the same caller, by its retry key; null if none or expired. */
  findRetry(retryKey: string): Promise<string | null>;
  header(runId: string): Promise<PlanRequested | null>;
  /** Headers older than `olderThanMs` whose run has no state: the gateway died before publishing. */
  unpublished(olderThanMs: number, limit: number): Promise<readonly PlanRequested[]>;
  /**
   * Applies a step: next state, outputs, facts, timers and cancel flags in one atomic write under the event id, with compare-and-set on the
   * version (on conflict the step is computed again, a bounded number of times, then throws COMMIT_CONFLICT). A repeated event id returns
   * the stored outputs without calling the step, or none once they are known to be on the log. `step` is pure and may return null: nothing
   * is stored and no outputs are returned (the event does not concern the run). The same applies to every event of an erased run.
   */
  commit<S>(event: Event, step: (current: S | null, at: StepTime) => Step<S> | null): Promise<Committed<S>>;
  read<S>(runId: string): Promise<StoredRun<S> | null>;
  /**
   * Removes an ended run: its header, state, stored outputs, journal and stream. A tombstone stays as long as an ended run would, and the
   * retry mapping stays. Steps, calls and entries that still arrive for the run are not stored. A repeat changes nothing. Returns `open`
   * (nothing removed) for a run that has not ended.
   */
  erase(run: Omit<ErasedRun, 'erasedAt'>): Promise<'erased' | 'open'>;
  /** The tombstone of an erased run; null for any other. */
  erased(runId: string): Promise<ErasedRun | null>;
  /** Newest first. `before` is the `acceptedAt` of the last one seen. */
  list(query: { readonly tenant: string; readonly limit: number; readonly before?: number }): Promise<readonly RunSummary[]>;
  openCount(): Promise<number>;
  /** Sets the level-triggered cancel flag of a run or task id; may precede its run. Publishes the hint `cancel`. */
  cancel(id: string): Promise<void>;
  /** Those of the ids that are flagged, or whose run is terminal. */
  cancelled(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Next command sequence number of a run, from 1. */
  nextCommandSeq(runId: string): Promise<number>;
  /**
   * Attaches and detaches clients of a chat run, each recorded under the process that attached it. Returns how many are attached
   * afterwards, without those of dead processes. Attaching resumes a parked run. Idempotent by client id.
   */
  attach(runId: string, clientId: string): Promise<number>;
  detach(runId: string, clientId: string): Promise<number>;
  /**
   * Records that a client has left and may come back. Returns how many are attached afterwards; if none is, the run is parked at once,
   * unless it is over. The next client to attach replaces all that are away. Idempotent by client id.
   */
  leave(runId: string, clientId: string): Promise<number>;
  /**
   * Parks the open runs whose attached clients all belong to processes with expired leases: `cancelled` then reports their `parkedFlag`.
   * Resumes those whose process is alive after all. `parked` counts the newly parked runs; `overdue` are those parked for `parkMs`
   * milliseconds or longer, at most `limit`, oldest first.
   */
  park(parkMs: number, limit: number): Promise<{ readonly parked: number; readonly overdue: readonly string[] }>;
}

/** The tombstone of an erased run. */
export interface ErasedRun {
  readonly runId: string;
  readonly tenant: string;
  /** Milliseconds since 1970. */
  readonly requestedAt: number;
  readonly erasedAt: number;
}

/**
 * How a store derives the state of a run from recorded steps. With it, a store whose log is in the same file writes only some states of a
 * run and folds the others.
 */
export interface Folding {
  /** Topic and id of the record of the step that leads to this version. */
  recordAt(runId: string, version: number): RecordedCall;
  /** The state after a step, from the state before it (null before the first) and the data of its record. Pure. */
  fold(runId: string, state: unknown, record: unknown): unknown;
}

export interface StepTime {
  /** The store's clock in milliseconds since 1970; the same value when a step is computed again. */
  readonly now: number;
  readonly version: number;
}

export interface AcceptRequest {
  readonly header: PlanRequested;
  readonly retryKey: string | null;
  /** Maximum number of open runs over all gateways. */
  readonly openLimit: number;
}
/** `erased`: a run of this id was erased; nothing is accepted. */
export type AcceptResult =
  { readonly kind: 'accepted' } | { readonly kind: 'erased' } | { readonly kind: 'overloaded'; readonly open: number };

export interface Step<S> {
  readonly next: S;
  readonly outputs: readonly Event[];
  readonly entries: readonly EngineEntry[];
  readonly arm: readonly TimerToArm[];
  /** Names of timers. */
  readonly disarm: readonly string[];
  /** Task ids to flag as cancelled. */
  readonly cancels: readonly string[];
  /** Set on the step that ends the run. */
  readonly terminal: boolean;
  /** Status word for lists, such as `collecting` or the outcome. */
  readonly status: string;
}
export interface Committed<S> {
  readonly outputs: readonly Event[];
  readonly repeated: boolean;
  /** Null if the step returned null. */
  readonly state: S | null;
}
export interface StoredRun<S> {
  readonly version: number;
  readonly state: S;
  readonly status: string;
  readonly terminal: boolean;
}
export interface RunSummary {
  readonly runId: string;
  readonly template: string;
  readonly status: string;
  readonly terminal: boolean;
  readonly acceptedAt: number;
  readonly question: string;
}

export interface TimerToArm {
  readonly name: string;
  readonly arm: number;
  readonly dueAt: number;
}
export interface DueTimer extends TimerToArm {
  readonly runId: string;
}
export interface Timers {
  /** Timers that are due by the store's clock, earliest first. They stay until removed. */
  due(limit: number): Promise<readonly DueTimer[]>;
  /** Removes the timer if its arm number is unchanged. */
  remove(timer: DueTimer): Promise<void>;
  /**
   * Resolves when a timer may be due: at the next due time at the latest, when an earlier timer is armed, or after `maxWaitMs`. Does not
   * poll.
   */
  wait(maxWaitMs: number, signal: AbortSignal): Promise<void>;
}

/** Outcome of a model or tool call; JSON. Failed calls are stored too, because they were paid for. */
export type CallOutcome =
  | { readonly ok: true; readonly reply: unknown }
  | { readonly ok: false; readonly failure: { readonly code: string; readonly message: string; readonly retriable: boolean } };

export type BeginResult =
  | { readonly kind: 'done'; readonly outcome: CallOutcome; readonly attempt: number }
  | { readonly kind: 'busy'; readonly retryInMs: number }
  /** The outcome and everything that followed from it are on the log, and the store has forgotten the outcome; or the run was erased. */
  | { readonly kind: 'published' }
  | {
      readonly kind: 'begun';
      readonly attempt: number;
      readonly repeated: boolean;
      /** The requested flags that were set when the step began, as `Runs.cancelled` finds them; absent if the store did not check. */
      readonly flagged?: readonly string[];
      /** The state of the run when the step began, if requested; null if it has none, absent if the store did not read it. */
      readonly state?: unknown;
    };

/** An attempt of a step. */
export interface JournalCall {
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
}

/** Topic and id of a record. */
export interface RecordedCall {
  readonly topic: string;
  readonly id: string;
}

export interface Journal {
  /**
   * `done`: the stored outcome. `busy`: another living process is making the call. `published`: nothing is left to do. `begun`: continue,
   * as attempt n (from 1); `repeated` if the owner of an earlier attempt died. The same nonce returns the same answer.
   */
  begin(call: {
    readonly runId: string;
    readonly step: string;
    readonly nonce: string;
    readonly owner: string;
    /** Ids of this run whose cancel flags are checked in the same request. */
    readonly flags?: readonly string[];
    /** Whether the state of the run is read in the same request. */
    readonly withState?: boolean;
  }): Promise<BeginResult>;
  /** Counts an attempt that follows a death when its call is made; once per attempt. */
  noteRepeat(call: { readonly runId: string; readonly step: string; readonly attempt: number; readonly purpose: string }): Promise<void>;
  /** Total number of repeats since the store began, by purpose. Survives every process. */
  repeats(): Promise<Readonly<Record<string, number>>>;
  /**
   * Returns `refused` if a later attempt has begun: the outcome is then ignored. In both cases the same write adds what was paid to the
   * usage ledger. `recorded`: an event that is published next; its data is `record`, the only member of the reply. A store that shares its
   * file with the log then need not keep the outcome twice. For an erased run no outcome is stored, but `stored` is returned.
   */
  finish(call: JournalCall, outcome: CallOutcome, paid?: Paid, recorded?: RecordedCall): Promise<'stored' | 'refused'>;
  /**
   * Gives up the step without an outcome. The same write adds what was paid to the usage ledger. `unsent`: the nonce of an attempt whose
   * request was not sent; it then counts as if it had not begun, so that the next attempt has its number.
   */
  abandon(call: JournalCall, paid?: Paid, unsent?: string): Promise<void>;
  /** Whether any step of this task was begun. */
  started(taskId: string): Promise<boolean>;
}

/** One of `limit` slots of a name (a provider) for a holder; times are in milliseconds. */
export interface SlotRequest {
  readonly name: string;
  readonly limit: number;
  readonly holder: string;
  readonly ttlMs: number;
  readonly waitMs?: number;
}

/** The slot of a holder, or its place among those that wait for one. */
export type SlotPlace = Pick<SlotRequest, 'name' | 'holder'>;

export interface Leases {
  /** Registers or renews this process; call every `leaseRenewMs`. Expires after `ttlMs` (`leaseTtlMs`). */
  renewProcess(process: {
    readonly id: string;
    readonly service: string;
    readonly classes: readonly string[];
    readonly ttlMs: number;
  }): Promise<void>;
  endProcess(id: string): Promise<void>;
  alive(processId: string): Promise<boolean>;
  liveWorkers(taskClass: string): Promise<number>;
  /** Ids of all processes whose leases have not ended, in any order. */
  live(): Promise<readonly string[]>;
  /** How many slots of this name are held. */
  slotsHeld(name: string): Promise<number>;
  /**
   * Takes one of `limit` slots of a name (a provider); false if all are taken, or are for holders that have waited for longer. Renew it
   * within `ttlMs` milliseconds. Idempotent by holder. With `waitMs`, a refused holder keeps its place before those that ask later for so
   * many milliseconds since it last asked.
   */
  acquireSlot(slot: SlotRequest): Promise<boolean>;
  /** Gives back a slot, or the place of a holder that waits for one. */
  releaseSlot(slot: SlotPlace): Promise<void>;
}

/**
 * Best-effort messages between processes; a lost one costs a poll interval, never correctness. Channels: `stream`, `cancel`, `slot`,
 * `load`.
 */
export interface Hints {
  /**
   * True if no message gets lost, and a run that ends sends `cancel` with its id, so that no process has to poll flags. Absent if that is
   * not certain.
   */
  readonly certain?: true;
  publish(channel: string, payload: string): Promise<void>;
  subscribe(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>>;
}
