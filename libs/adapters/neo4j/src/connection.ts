import { Failure } from '@conclave/contracts';
import neo4j, { Neo4jError, type Driver, type ManagedTransaction } from 'neo4j-driver';
import { schema } from './schema.js';

export interface Neo4jGraphOptions {
  /** bolt:// or neo4j://, with +s for TLS. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** Absent = the default database. */
  readonly database?: string;
  /** Prefix of every tenant, so that installations can share a database without seeing each other. */
  readonly namespace?: string;
  /** Limit in milliseconds for the retries of one transaction, and for the wait for a connection. */
  readonly timeoutMs?: number;
}

/** The driver with its sessions. Connects on first use; creates constraints before the first query, and again after a failure. */
export class Neo4jConnection {
  private readonly driver: Driver;
  private readonly database: { readonly database?: string };
  private schema: Promise<void> | null = null;
  private closed = false;

  constructor({ url, user, password, database, timeoutMs = 10_000 }: Neo4jGraphOptions) {
    this.database = database ? { database } : {};
    this.driver = neo4j.driver(url, neo4j.auth.basic(user, password), {
      disableLosslessIntegers: true,
      maxTransactionRetryTime: timeoutMs,
      connectionAcquisitionTimeout: timeoutMs,
      connectionTimeout: Math.min(5_000, timeoutMs),
      maxConnectionPoolSize: 20,
      telemetryDisabled: true,
      userAgent: 'conclave',
    });
  }

  /** Runs a write transaction. The driver retries it, so `work` may run several times. Throws Failure GRAPH_UNAVAILABLE. */
  write<T>(work: (transaction: ManagedTransaction) => Promise<T>): Promise<T> {
    return this.guarded(() => this.inSession((session) => session.executeWrite(work)));
  }

  /** Like `write`, for a read transaction. */
  read<T>(work: (transaction: ManagedTransaction) => Promise<T>): Promise<T> {
    return this.guarded(() => this.inSession((session) => session.executeRead(work)));
  }

  verify(): Promise<unknown> {
    return this.guarded(() => this.driver.verifyConnectivity(this.database));
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.driver.close();
  }

  private async inSession<T>(work: (session: ReturnType<Driver['session']>) => Promise<T>): Promise<T> {
    const session = this.driver.session(this.database);
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) throw new Failure('GRAPH_UNAVAILABLE', 'It is closed.');
    try {
      await (this.schema ??= this.prepare());
      return await work();
    } catch (error) {
      throw failureOf(error, this.closed);
    }
  }

  private async prepare(): Promise<void> {
    try {
      await this.inSession((session) =>
        session.executeWrite(async (transaction) => {
          for (const statement of schema) await transaction.run(statement);
        }),
      );
    } catch (error) {
      this.schema = null;
      throw error;
    }
  }
}

/** Maps outages to GRAPH_UNAVAILABLE with what to do; other errors, such as a wrong statement (a bug), pass through. */
function failureOf(error: unknown, closed: boolean): unknown {
  if (closed) return new Failure('GRAPH_UNAVAILABLE', 'It is closed.');
  if (!(error instanceof Neo4jError)) return error;
  const { code } = error;
  if (/^Neo\.ClientError\.Security/.test(code)) {
    return new Failure(
      'GRAPH_UNAVAILABLE',
      `Neo4j does not accept the user or the password (${code}). Check NEO4J_USER and NEO4J_PASSWORD.`,
    );
  }
  if (/^Neo\.ClientError\.Database/.test(code)) return new Failure('GRAPH_UNAVAILABLE', `Neo4j has no such database (${code}).`);
  if (/^Neo\.ClientError\./.test(code)) return error;
  return new Failure('GRAPH_UNAVAILABLE', `Neo4j: ${code}.`, { cause: error });
}
