import { Failure, isOutage } from '@conclave/contracts';
import type { Sql, SqlValue } from './sql.js';
import type { StoreCounter } from './store-counter.js';
import { isSqliteError, storeFailure } from './store-failure.js';

/** Runs the statements of a write. */
export type Statements = Pick<Sql, 'run' | 'get' | 'all'>;

/** Passed to each write. */
export interface Tick {
  readonly sql: Statements;
  /** Called as soon as the process sees this write, before it is durable; not called if it is rolled back. Must not throw. */
  afterWrite(call: () => void): void;
  /** Called once the whole tick is durable; not called if this write is rolled back. Must not throw. */
  afterCommit(call: () => void): void;
}

interface Queued {
  readonly write: (tick: Tick) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}
type WriteOutcome =
  { readonly ok: true; readonly value: unknown; readonly after: readonly (() => void)[] } | { readonly ok: false; readonly error: unknown };
interface Waiting {
  readonly demands: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Milliseconds between two attempts to repeat writes that found the disk full. */
const againMs = 250;

const reads = /^\s*(?:SELECT|PRAGMA)\b/;

const faultOf = (outcome: WriteOutcome): Failure | null =>
  !outcome.ok && outcome.error instanceof Failure && isOutage(outcome.error) ? outcome.error : null;

/**
 * All writes of one connection. An *ordered* write runs at once in the open transaction of the tick, which is committed at the end of the
 * tick; a *queued* write runs last in it and is acknowledged after the commit. SQLite rolls back a whole transaction when one statement
 * finds the disk full, so statements of ordered writes stay in a list and are repeated until they are durable: work built on them stays
 * valid. In the meantime nothing else is written.
 */
export class TickWriter {
  /** Statements of ordered writes that are not durable yet; each can be run again. */
  private readonly list: (() => unknown)[] = [];
  private afterOrdered: (() => void)[] = [];
  private queue: Queued[] = [];
  private waiting: Waiting[] = [];
  private readonly reading = new Map<string, boolean>();
  /** Writes to run once before the commit, by owner. */
  private readonly owed = new Map<object, (sql: Statements) => void>();
  private isOpen = false;
  private scheduled = false;
  /** Whether the transaction that held the list was rolled back. */
  private lost = false;
  private retry: NodeJS.Timeout | undefined;
  /** Why the newest transaction failed; null while writing works. */
  fault: Failure | null = null;

  constructor(
    private readonly sql: Sql,
    private readonly counter?: StoreCounter,
  ) {}

  /** Runs a write in the open transaction. Throws what it threw, STORE_FULL or STORE_UNAVAILABLE; then it is rolled back. */
  order<T>(write: (tick: Tick) => T): T {
    if (this.lost && !this.writeAgain()) throw this.fault!;
    const mark = this.list.length;
    const after: (() => void)[] = [];
    const counts: (() => void)[] = [];
    let value: T;
    try {
      value = write({
        sql: this.recording,
        afterWrite: (call) => counts.push(call),
        afterCommit: (call) => after.push(call),
      });
    } catch (error) {
      this.takeOut(mark);
      throw this.noted(error);
    }
    if (after.length > 0) {
      this.afterOrdered.push(...after);
      this.schedule();
    }
    for (const call of counts) call();
    return value;
  }

  /** Queues a write for the end of the tick. Resolves with its result after the commit; if it rejects, no part of it is stored. */
  queued<T>(write: (tick: Tick) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ write, resolve: resolve as (value: unknown) => void, reject });
      this.schedule();
    });
  }

  /** Runs `write` once before the next commit; a newer one of the same owner replaces it. */
  beforeCommit(owner: object, write: (sql: Statements) => void): void {
    this.owed.set(owner, write);
    this.schedule();
  }

  /** Resolves when all writes ordered so far are durable. A writer (`demands`) waits however long; a reader is refused while that fails. */
  durable(demands: boolean): Promise<void> {
    if (!this.isOpen && !this.lost && this.afterOrdered.length === 0 && this.owed.size === 0) return Promise.resolve();
    if (!demands && this.lost && this.fault) return Promise.reject(this.fault);
    return new Promise((resolve, reject) => this.waiting.push({ demands, resolve, reject }));
  }

  /** Runs the queued writes and commits the open transaction. */
  flush(): void {
    this.scheduled = false;
    if (!this.sql.open) return;
    const queued = this.queue;
    this.queue = [];
    if (this.lost && !this.writeAgain()) return queued.forEach(({ reject }) => reject(this.fault));
    if (!this.isOpen && queued.length === 0 && this.owed.size === 0) return this.committed([], []);
    let outcomes: readonly WriteOutcome[];
    try {
      outcomes = this.run(queued);
      this.fault = outcomes.map(faultOf).find((fault) => fault !== null) ?? null;
    } catch (error) {
      this.undone();
      const failure = this.noted(error);
      for (const { reject } of queued) reject(failure);
      // Perhaps only a queued write found the disk full.
      if (this.lost) this.writeAgain();
      return;
    }
    this.committed(queued, outcomes);
  }

  /** Commits the open transaction and rejects those who still wait. False when ordered writes are lost. */
  close(): boolean {
    this.flush();
    clearTimeout(this.retry);
    for (const { reject } of this.waiting.splice(0)) reject(this.fault ?? new Failure('STORE_UNAVAILABLE', 'It is closed.'));
    return !this.lost;
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.flush());
  }

  private begin(): void {
    if (this.isOpen) return;
    this.sql.run('BEGIN IMMEDIATE');
    this.isOpen = true;
    this.schedule();
  }

  /** Statements of an ordered write: those that change data open the transaction and are kept in the list. */
  private readonly recording: Statements = {
    run: (source, ...parameters) => this.changing(source, () => this.sql.run(source, ...parameters)),
    get: <T>(source: string, ...parameters: readonly SqlValue[]) => this.changing(source, () => this.sql.get<T>(source, ...parameters)),
    all: <T>(source: string, ...parameters: readonly SqlValue[]) => this.changing(source, () => this.sql.all<T>(source, ...parameters)),
  };

  private changing<T>(source: string, run: () => T): T {
    let isRead = this.reading.get(source);
    if (isRead === undefined) this.reading.set(source, (isRead = reads.test(source)));
    if (isRead) return run();
    this.begin();
    const result = run();
    this.list.push(run);
    return result;
  }

  /** Undoes an ordered write that threw: rolls back and repeats the writes before it. */
  private takeOut(mark: number): void {
    const intact = this.list.length === mark && (!this.isOpen || this.sql.inTransaction);
    if (intact) return;
    this.list.length = mark;
    this.undone();
    if (this.lost && !this.writeAgain()) return;
    // The next flush resolves those who wait for the commit.
    this.schedule();
  }

  /** Rolls back the open transaction; its ordered writes have to be repeated. */
  private undone(): void {
    if (this.sql.open && this.sql.inTransaction) this.sql.exec('ROLLBACK');
    this.isOpen = false;
    this.lost = this.list.length + this.owed.size > 0;
    if (this.lost) this.tryLater();
  }

  private tryLater(): void {
    this.retry ??= setTimeout(() => {
      this.retry = undefined;
      if (this.lost && this.sql.open && !this.writeAgain()) this.tryLater();
    }, againMs).unref();
  }

  /** Repeats and commits the lost writes. Returns false while that fails; `fault` says why. */
  private writeAgain(): boolean {
    try {
      this.sql.run('BEGIN IMMEDIATE');
      this.isOpen = true;
      for (const run of this.list) run();
      this.payOwed();
      this.commit(true);
      this.isOpen = false;
    } catch (error) {
      this.undone();
      this.noted(error);
      for (const { demands, reject } of this.waiting) if (!demands && this.fault) reject(this.fault);
      return false;
    }
    this.lost = false;
    this.fault = null;
    this.committed([], []);
    return true;
  }

  /** An owed write stays owed until it has succeeded. */
  private payOwed(): void {
    for (const [owner, write] of this.owed) {
      try {
        write(this.recording);
      } catch (error) {
        // A bug would fail every later commit.
        if (!isSqliteError(error)) this.owed.delete(owner);
        throw error;
      }
      this.owed.delete(owner);
    }
  }

  private noted(error: unknown): unknown {
    const failure = storeFailure(error, this.sql.path);
    if (failure instanceof Failure && isOutage(failure)) this.fault = failure;
    return failure;
  }

  private commit(awaited: boolean): void {
    this.sql.run('COMMIT');
    this.counter?.committed(awaited);
  }

  /** Owed writes run first: a queued write sees everything that was ordered before it. */
  private run(queued: readonly Queued[]): readonly WriteOutcome[] {
    if (this.owed.size > 0) {
      this.begin();
      this.payOwed();
    }
    const alone = !this.isOpen && queued.length === 1;
    this.begin();
    const outcomes = alone ? [this.alone(queued[0]!.write)] : queued.map(({ write }) => this.apply(write));
    if (this.isOpen) this.commit(queued.length > 0 || this.waiting.some(({ demands }) => demands));
    this.isOpen = false;
    return outcomes;
  }

  /** Everything written so far is durable. */
  private committed(queued: readonly Queued[], outcomes: readonly WriteOutcome[]): void {
    this.list.length = 0;
    const [after, waiting] = [this.afterOrdered, this.waiting];
    this.afterOrdered = [];
    this.waiting = [];
    for (const call of after) call();
    for (const outcome of outcomes) if (outcome.ok) for (const call of outcome.after) call();
    outcomes.forEach((outcome, index) => (outcome.ok ? queued[index]!.resolve(outcome.value) : queued[index]!.reject(outcome.error)));
    for (const { resolve } of waiting) resolve();
  }

  /** The only write of its transaction needs no savepoint. Throws when SQLite itself has rolled back. */
  private alone(write: (tick: Tick) => unknown): WriteOutcome {
    const outcome = this.attempted(write);
    if (outcome.ok) return outcome;
    this.sql.run('ROLLBACK');
    this.isOpen = false;
    return outcome;
  }

  /** Runs one queued write in a savepoint. Throws only when SQLite itself has rolled back the transaction. */
  private apply(write: (tick: Tick) => unknown): WriteOutcome {
    this.sql.run('SAVEPOINT one');
    const outcome = this.attempted(write);
    if (!outcome.ok) this.sql.run('ROLLBACK TO one');
    this.sql.run('RELEASE one');
    return outcome;
  }

  private attempted(write: (tick: Tick) => unknown): WriteOutcome {
    const after: (() => void)[] = [];
    const keep = (call: () => void): void => void after.push(call);
    try {
      return { ok: true, value: write({ sql: this.sql, afterWrite: keep, afterCommit: keep }), after };
    } catch (error) {
      if (!this.sql.inTransaction) throw error;
      return { ok: false, error: storeFailure(error, this.sql.path) };
    }
  }
}
