import Libsql from 'libsql';
import type { StoreCounter } from './store-counter.js';

export type SqlValue = string | number | bigint | null | Uint8Array;
export type Row = Readonly<Record<string, unknown>>;

interface Statement {
  run(parameters: readonly SqlValue[]): { readonly changes: number };
  get(parameters: readonly SqlValue[]): unknown;
  all(parameters: readonly SqlValue[]): unknown[];
}

interface Connection {
  readonly inTransaction: boolean;
  prepare(source: string): Statement;
  exec(source: string): void;
  close(): void;
}

/** One connection with its prepared statements. Synchronous; throws SQLite's own errors. */
export class Sql {
  private readonly connection: Connection;
  private readonly statements = new Map<string, Statement>();
  private isOpen = true;

  /** `busyTimeoutMs`: the longest a call waits for a lock of another process. */
  constructor(
    readonly path: string,
    busyTimeoutMs: number,
    private readonly counter?: StoreCounter,
  ) {
    this.connection = new Libsql(path, { timeout: busyTimeoutMs }) as unknown as Connection;
  }

  get inTransaction(): boolean {
    return this.connection.inTransaction;
  }

  get open(): boolean {
    return this.isOpen;
  }

  exec(source: string): void {
    this.connection.exec(source);
  }

  /** Number of rows changed. */
  run(source: string, ...parameters: readonly SqlValue[]): number {
    return this.prepared(source).run(checked(source, parameters)).changes;
  }

  get<T = Row>(source: string, ...parameters: readonly SqlValue[]): T | undefined {
    return (this.prepared(source).get(checked(source, parameters)) as T | undefined) ?? undefined;
  }

  all<T = Row>(source: string, ...parameters: readonly SqlValue[]): T[] {
    return this.prepared(source).all(checked(source, parameters)) as T[];
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.statements.clear();
    this.connection.close();
  }

  /** A prepared statement outlives its connection, so the wrapper itself refuses use after `close`. */
  private prepared(source: string): Statement {
    if (!this.isOpen) throw new Error('The database is closed.');
    this.counter?.statement(source);
    let statement = this.statements.get(source);
    if (!statement) {
      statement = this.connection.prepare(source);
      this.statements.set(source, statement);
    }
    return statement;
  }
}

/** The native binding crashes the process on a value of an unsupported type, such as a boolean. */
function checked(source: string, parameters: readonly SqlValue[]): readonly SqlValue[] {
  for (const value of parameters as readonly unknown[]) {
    const known =
      value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || ArrayBuffer.isView(value);
    if (!known) throw new TypeError(`A parameter of type ${typeof value} cannot be stored by: ${source}`);
  }
  return parameters;
}

/** Reads a BLOB column: `get` returns it as a Buffer, `all` as an ArrayBuffer. */
export const bytesOf = (value: unknown): Buffer => (Buffer.isBuffer(value) ? value : Buffer.from(value as ArrayBuffer));
