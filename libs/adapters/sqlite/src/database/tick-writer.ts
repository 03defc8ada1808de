import { Failure, isOutage } from '@conclave/contracts';
import type { Sql, SqlValue } from './sql.js';
import type { StoreCounter } from './store-counter.js';
import { isSqliteError, storeFailure } from './store-failure.js';

/** What a write runs its statements with. */
export type Statements = Pick<Sql, 'run' | 'get' | 'all'>;

/** What a write works with. */
export interface Tick {
  readonly sql: Statements;
  /** Called as soon as this write counts inside the process, before it is durable, and not if it is undone. Must not throw. */
  afterWrite(call: () => void): void;
  /** Called once everything of the tick is durable, and not if this write is undone. Must not throw. */
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

/** Milliseconds between two tries to write again what the disk had no room for. */
const againMs = 250;

const reads = /^\s*(?:SELECT|PRAGMA)\b/;

const faultOf = (outcome: WriteOutcome): Failure | null =>
  !outcome.ok && outcome.error instanceof Failure && isOutage(outcome.error) ? outcome.error : null;

/**
 * All writes of one connection. What is *ordered* runs at once in the open transaction of the tick, which is committed at the end of the
 * tick; what is *queued* runs there last, and is acknowledged after the commit. SQLite undoes a whole transaction when one statement
 * finds the disk full, so the statements of ordered writes stay in a list until they are durable and are run again until they are: nobody
 * has to take back what was built on them. Meanwhile nothing further is written.
 */
export class TickWriter {
  /** Statements of ordered writes that are not durable yet, each to be run again. */
  private readonly list: (() => unknown)[] = [];
  private afterOrdered: (() => void)[] = [];
  private queue: Queued[] = [];
  private waiting: Waiting[] = [];
  private readonly reading = new Map<string, boolean>();
  /** What is written once before the commit, by whom. */
  private readonly owed = new Map<object, (sql: Statements) => void>();
  private isOpen = false;
  private scheduled = false;
  /** The transaction that held the list was undone. */
  private lost = false;
  private retry: NodeJS.Timeout | undefined;
  /** Why the newest transaction failed; null while writing works. */
  fault: Failure | null = null;

  constructor(
    private readonly sql: Sql,
    private readonly counter?: StoreCounter,
  ) {}

  /** Runs a write in the open transaction. Throws what it threw, STORE_FULL or STORE_UNAVAILABLE; nothing of it counts then. */
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

  /** Queues a write for the end of the tick. Resolves with its result after the commit; nothing of it is stored when it rejects. */
  queued<T>(write: (tick: Tick) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ write, resolve: resolve as (value: unknown) => void, reject });
      this.schedule();
    });
  }

  /** Before the next commit, whatever it is for, `write` runs once; the newest of the same owner counts. */
  beforeCommit(owner: object, write: (sql: Statements) => void): void {
    this.owed.set(owner, write);
    this.schedule();
  }

  /** Resolves when all that was ordered so far is durable. `demands` only tells the counter that somebody goes on after it. */
  durable(demands: boolean): Promise<void> {
    if (!this.isOpen && !this.lost && this.afterOrdered.length === 0 && this.owed.size === 0) return Promise.resolve();
    return new Promise((resolve, reject) => this.waiting.push({ demands, resolve, reject }));
  }

  /** Commits what is open and runs what is queued. */
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
      // It may have been one of the queued writes alone that found no room.
      if (this.lost) this.writeAgain();
      return;
    }
    this.committed(queued, outcomes);
  }

  /** Ends it: what is open is committed, and who still waits is told that it is not durable. False when something could not be written. */
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

  /** Statements of an ordered write: those that change anything open the transaction and are kept. */
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

  /** Undoes what an ordered write did that threw: the transaction is made anew of the writes before it. */
  private takeOut(mark: number): void {
    const intact = this.list.length === mark && (!this.isOpen || this.sql.inTransaction);
    if (intact) return;
    this.list.length = mark;
    this.undone();
    if (this.lost && !this.writeAgain()) return;
    // Whoever waits for the end of the tick waits for nothing more.
    this.schedule();
  }

  /** The open transaction is gone; what was ordered in it has to be written again. */
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

  /** Writes and commits what was lost. False while that is not possible: `fault` says why. */
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
      return false;
    }
    this.lost = false;
    this.fault = null;
    this.committed([], []);
    return true;
  }

  /** What is owed stays owed until it is written. */
  private payOwed(): void {
    for (const [owner, write] of this.owed) {
      try {
        write(this.recording);
      } catch (error) {
        // Our own mistake would fail every commit to come.
        if (!isSqliteError(error)) this.owed.delete(owner);
        throw error;
      }
      this.owed.delete(owner);
    }
  }

  private noted(error: unknown): unknown {
    const failure = storeFailure(error);
    if (failure instanceof Failure && isOutage(failure)) this.fault = failure;
    return failure;
  }

  private commit(awaited: boolean): void {
    this.sql.run('COMMIT');
    this.counter?.committed(awaited);
  }

  /** What is owed comes first: a queued write finds everything that was ordered before it. */
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

  /** The only write of its transaction: undone with it, so it needs no savepoint. Throws when SQLite has given up by itself. */
  private alone(write: (tick: Tick) => unknown): WriteOutcome {
    const outcome = this.attempted(write);
    if (outcome.ok) return outcome;
    this.sql.run('ROLLBACK');
    this.isOpen = false;
    return outcome;
  }

  /** One queued write inside its savepoint. Throws only when SQLite has given up the whole transaction. */
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
      return { ok: false, error: storeFailure(error) };
    }
  }
}
