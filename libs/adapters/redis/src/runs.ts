import { randomUUID } from 'node:crypto';
import type { Event, PlanRequested } from '@conclave/contracts';
import {
  awayOwner,
  parkedFlag,
  type AcceptRequest,
  type AcceptResult,
  type ErasedRun,
  type Runs,
  type RunSummary,
  type StoredRun,
  type StoreTtl,
} from '@conclave/ports';
import { Acceptances } from './acceptances.js';
import { Commits, type CommitHooks } from './commit.js';
import type { RedisConnection } from './connection.js';
import { erasing } from './erasing.js';
import { type Bucket, type Keys, runOf } from './keys.js';
import type { RedisLeases } from './leases.js';
import { unpacked } from './packed.js';
import { attachClient, detachClient, leaveRun, parkRuns } from './scripts/clients.js';
import { readRun } from './scripts/commit.js';
import { readErased } from './scripts/erasure.js';
import { inPairs, type Script } from './scripts/script.js';
import { findCancelled, nextCommand, setCancel } from './scripts/steering.js';

export class RedisRuns implements Runs {
  readonly commit: Runs['commit'];
  private readonly acceptances: Acceptances;

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly leases: RedisLeases,
    private readonly ttl: StoreTtl,
    hooks: CommitHooks,
    private readonly processId: string,
    now: () => Promise<number>,
  ) {
    const packs = (): boolean => leases.allReadForgotten;
    const commits = new Commits(connection, keys, ttl, hooks, now, packs);
    this.commit = (event: Event, step) => commits.commit(event, step);
    this.acceptances = new Acceptances(connection, keys, ttl, packs);
  }

  accept(acceptance: AcceptRequest): Promise<AcceptResult> {
    return this.acceptances.accept(acceptance);
  }
  findRetry(retryKey: string): Promise<string | null> {
    return this.acceptances.findRetry(retryKey);
  }
  header(runId: string): Promise<PlanRequested | null> {
    return this.acceptances.header(runId);
  }
  unpublished(olderThanMs: number, limit: number): Promise<readonly PlanRequested[]> {
    return this.acceptances.unpublished(olderThanMs, limit);
  }
  async erase(run: Omit<ErasedRun, 'erasedAt'>): Promise<'erased' | 'open'> {
    const { at, script, keys, parameters } = erasing(this.keys, this.ttl.retentionMs, run);
    return this.connection.run(at, script, keys, parameters);
  }
  async erased(runId: string): Promise<ErasedRun | null> {
    const { at, run } = this.keys.of(runId);
    const [tombstone, erasedAt] = await this.connection.run(at, readErased, [run], []);
    if (tombstone === null) return null;
    return { runId, ...(JSON.parse(tombstone) as Pick<ErasedRun, 'tenant' | 'requestedAt'>), erasedAt: Number(erasedAt) };
  }
  list(query: Parameters<Runs['list']>[0]): Promise<readonly RunSummary[]> {
    return this.acceptances.list(query);
  }
  openCount(): Promise<number> {
    return this.acceptances.openCount();
  }

  async read<S>(runId: string): Promise<StoredRun<S> | null> {
    const { at, run } = this.keys.of(runId);
    const [version, state, status, terminal] = await this.connection.run(at, readRun, [run], []);
    if (version === null || state === null) return null;
    return { version: Number(version), state: JSON.parse(unpacked(state)) as S, status: status ?? '', terminal: terminal === '1' };
  }

  async cancel(id: string): Promise<void> {
    const { at, cancelled, run } = this.keys.of(runOf(id));
    await this.connection.run(at, setCancel, [cancelled, run], [id, this.ttl.retentionMs, this.keys.channel('cancel')]);
  }

  async cancelled(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const asked = new Map<Bucket, string[]>();
    for (const id of ids) {
      const { at } = this.keys.of(runOf(id));
      asked.set(at, [...(asked.get(at) ?? []), id]);
    }
    const found = await Promise.all(
      [...asked].map(([at, here]) => {
        const keys = here.map((id) => this.keys.of(runOf(id))).flatMap(({ cancelled, run }) => [cancelled, run]);
        return this.connection.run(at, findCancelled, keys, here);
      }),
    );
    return new Set(found.flat());
  }

  nextCommandSeq(runId: string): Promise<number> {
    const { at, commands, run } = this.keys.of(runId);
    return this.connection.run(at, nextCommand, [commands, run], [randomUUID(), this.ttl.retentionMs]);
  }

  attach(runId: string, clientId: string): Promise<number> {
    return this.clients(attachClient, runId, clientId);
  }

  detach(runId: string, clientId: string): Promise<number> {
    return this.clients(detachClient, runId, clientId);
  }

  async leave(runId: string, clientId: string): Promise<number> {
    const { at, attached, run, cancelled } = this.keys.of(runId);
    const living = JSON.stringify([...new Set([...(await this.leases.live()), this.processId])]);
    return this.connection.run(
      at,
      leaveRun,
      [attached, run, at.attachers, `${at.beforeAttached}${awayOwner}`, at.parked, cancelled],
      [runId, clientId, awayOwner, parkedFlag(runId), this.ttl.retentionMs, living],
    );
  }

  /** Number of attached clients afterwards, without those of other, dead processes. */
  private async clients(change: Script<string[]>, runId: string, clientId: string): Promise<number> {
    const { keys, processId } = this;
    const { at, attached, run, cancelled } = keys.of(runId);
    const owners = await this.connection.run(
      at,
      change,
      [attached, run, at.attachers, `${at.beforeAttached}${processId}`, at.parked, cancelled],
      [runId, clientId, processId, parkedFlag(runId), this.ttl.retentionMs],
    );
    const living = await this.leases.livingOf([...new Set(owners)].filter((owner) => owner !== processId));
    return owners.filter((owner) => owner === processId || living.has(owner)).length;
  }

  async park(parkMs: number, limit: number): Promise<{ readonly parked: number; readonly overdue: readonly string[] }> {
    const living = JSON.stringify(await this.leases.live());
    const found = await this.connection.everywhere(
      parkRuns,
      ({ attachers, parked }) => [attachers, parked],
      ({ aroundRun, beforeAttached }) => [parkMs, limit, aroundRun[0], beforeAttached, this.ttl.retentionMs, living],
    );
    const overdue = found.flatMap(([, ...pairs]) => inPairs(pairs)).sort(([, a], [, b]) => Number(a) - Number(b));
    return {
      parked: found.reduce((sum, [fresh]) => sum + fresh, 0),
      overdue: overdue.slice(0, limit).map(([runId]) => runId),
    };
  }
}
