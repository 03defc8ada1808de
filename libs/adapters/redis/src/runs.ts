import { randomUUID } from 'node:crypto';
import type { Event, PlanRequested } from '@conclave/contracts';
import {
  acceptedStatus,
  parkedFlag,
  type Acceptance,
  type Accepted,
  type Runs,
  type RunSummary,
  type StoredRun,
  type StoreTtl,
} from '@conclave/ports';
import { Commits, type CommitHooks } from './commit.js';
import type { Connection } from './connection.js';
import { type Keys, runOf } from './keys.js';
import { acceptRun, countOpen, findRetry, findUnpublished, listRuns, readHeader } from './scripts/acceptance.js';
import { readRun } from './scripts/commit.js';
import { attachClient, detachClient, parkRuns } from './scripts/clients.js';
import { findCancelled, nextCommand, setCancel } from './scripts/steering.js';
import { accountsOf } from './usage-ledger.js';

export class RedisRuns implements Runs {
  readonly commit: Runs['commit'];

  constructor(
    private readonly connection: Connection,
    private readonly keys: Keys,
    private readonly ttl: StoreTtl,
    hooks: CommitHooks,
    private readonly processId: string,
  ) {
    const commits = new Commits(connection, keys, ttl, hooks);
    this.commit = (event: Event, step) => commits.commit(event, step);
  }

  async accept({ header, retryKey, openLimit }: Acceptance): Promise<Accepted> {
    const { keys } = this;
    const { template, goal, caller } = header.data;
    const [kind, open] = await this.connection.run(
      acceptRun,
      [
        ...[keys.of(header.runId).run, keys.open, keys.unpublished, keys.tenant(caller.tenant)],
        ...(retryKey === null ? [] : [keys.retry(retryKey)]),
      ],
      [
        ...[header.runId, JSON.stringify(header), template.id, goal, acceptedStatus],
        ...[openLimit, this.ttl.retryKeyMs, ...keys.aroundRun, accountsOf(caller)],
      ],
    );
    return kind === 'accepted' ? { kind } : { kind, open: open! };
  }

  findRetry(retryKey: string): Promise<string | null> {
    return this.connection.run(findRetry, [this.keys.retry(retryKey)], []);
  }

  async header(runId: string): Promise<PlanRequested | null> {
    const header = await this.connection.run(readHeader, [this.keys.of(runId).run], []);
    return header === null ? null : (JSON.parse(header) as PlanRequested);
  }

  async unpublished(olderThanMs: number, limit: number): Promise<readonly PlanRequested[]> {
    const headers = await this.connection.run(findUnpublished, [this.keys.unpublished], [olderThanMs, limit, ...this.keys.aroundRun]);
    return headers.map((header) => JSON.parse(header) as PlanRequested);
  }

  async read<S>(runId: string): Promise<StoredRun<S> | null> {
    const [version, state, status, terminal] = await this.connection.run(readRun, [this.keys.of(runId).run], []);
    if (version === null || state === null) return null;
    return { version: Number(version), state: JSON.parse(state) as S, status: status ?? '', terminal: terminal === '1' };
  }

  async list({ tenant, limit, before }: Parameters<Runs['list']>[0]): Promise<readonly RunSummary[]> {
    const from = before === undefined ? '+inf' : `(${before}`;
    const found = await this.connection.run(listRuns, [this.keys.tenant(tenant)], [limit, from, ...this.keys.aroundRun]);
    return found.map(([runId, template, status, terminal, acceptedAt, question]) => ({
      runId,
      template,
      status,
      terminal: terminal === '1',
      acceptedAt: Number(acceptedAt),
      question,
    }));
  }

  openCount(): Promise<number> {
    return this.connection.run(countOpen, [this.keys.open], []);
  }

  async cancel(id: string): Promise<void> {
    const { cancelled, run } = this.keys.of(runOf(id));
    await this.connection.run(setCancel, [cancelled, run], [id, this.ttl.retentionMs, this.keys.channel('cancel')]);
  }

  async cancelled(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const keys = ids.map((id) => this.keys.of(runOf(id))).flatMap(({ cancelled, run }) => [cancelled, run]);
    return new Set(await this.connection.run(findCancelled, keys, ids));
  }

  nextCommandSeq(runId: string): Promise<number> {
    const { commands, run } = this.keys.of(runId);
    return this.connection.run(nextCommand, [commands, run], [randomUUID(), this.ttl.retentionMs]);
  }

  attach(runId: string, clientId: string): Promise<number> {
    return this.connection.run(attachClient, ...this.client(runId, clientId));
  }

  detach(runId: string, clientId: string): Promise<number> {
    return this.connection.run(detachClient, ...this.client(runId, clientId));
  }

  private client(runId: string, clientId: string): [readonly string[], readonly (string | number)[]] {
    const { keys, processId } = this;
    const { attached, run, cancelled } = keys.of(runId);
    return [
      [attached, run, keys.attachers, keys.attachedBy(processId), keys.parked, cancelled, keys.leases],
      [runId, clientId, processId, parkedFlag(runId), this.ttl.retentionMs],
    ];
  }

  async park(parkMs: number, limit: number): Promise<{ readonly parked: number; readonly overdue: readonly string[] }> {
    const { attachers, parked, leases, aroundRun } = this.keys;
    const parameters = [parkMs, limit, aroundRun[0], this.keys.attachedBy(''), this.ttl.retentionMs];
    const [fresh, ...overdue] = await this.connection.run(parkRuns, [attachers, parked, leases], parameters);
    return { parked: fresh, overdue };
  }
}
