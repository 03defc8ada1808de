import { depthOf, type PlanRequested } from '@conclave/contracts';
import { acceptedStatus, type AcceptRequest, type AcceptResult, type Runs, type RunSummary, type StoreTtl } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Bucket, Keys } from './keys.js';
import { packed, unpacked } from './packed.js';
import {
  acceptRun,
  countOpen,
  findClosed,
  findRetry,
  findUnpublished,
  freePlaces,
  listPlaces,
  listRun,
  noteRetry,
  readAcceptance,
  readHeader,
  readSummaries,
  takePlace,
  unlistRuns,
  type Summary,
} from './scripts/acceptance.js';
import { inPairs } from './scripts/script.js';
import { accountsOf } from './usage-ledger.js';

/** Longest time in milliseconds between two writes of one acceptance; younger partial acceptances are left alone. */
const acceptingMs = 30_000;

/** Headers longer than this many characters are packed: those with a long prompt or conversation, which are rarely read. */
const longCharacters = 4_000;

const headerFrom = (text: string): PlanRequested => JSON.parse(unpacked(text)) as PlanRequested;

/** Milliseconds a run stays in the list of its tenant: longer than the longest run plus its retention. */
export const listedMs = ({ retentionMs }: StoreTtl): number => retentionMs * 2 + 7 * 24 * 60 * 60 * 1000;

/**
 * Accepts and finds runs. An acceptance spans several buckets, so it takes several writes, ordered so that a crash after any of them is
 * safe: a place among the open runs, then the header and the entry in the tenant's list, then the retry mapping.
 */
export class Acceptances {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly ttl: StoreTtl,
    /** Whether a long header may be packed. */
    private readonly packs: () => boolean,
  ) {}

  async accept({ header, retryKey, openLimit }: AcceptRequest): Promise<AcceptResult> {
    const { keys, connection } = this;
    const { runId } = header;
    const { at, run } = keys.of(runId);
    const { template, goal, caller } = header.data;
    // A child run is part of its root: it has no place of its own and is in no list.
    const isChild = depthOf(runId) > 0;
    const open = isChild ? null : await this.takePlace(runId, openLimit);
    if (open !== null) {
      // An accepted run stays accepted, and an ended run needs no place.
      const [accepted, over] = await connection.run(at, readAcceptance, [run], []);
      if (accepted === 1) return { kind: 'accepted' };
      if (over === 0) return { kind: 'overloaded', open };
    }
    const json = JSON.stringify(header);
    const kept = json.length > longCharacters && this.packs() ? packed(json) : json;
    const [erased] = await Promise.all([
      connection.run(at, acceptRun, [run, at.open, at.unpublished], [runId, kept, template.id, goal, acceptedStatus, accountsOf(caller)]),
      this.enlist(header),
    ]);
    if (erased === 1) return { kind: 'erased' };
    if (retryKey !== null) await this.noteRetry(runId, retryKey);
    return { kind: 'accepted' };
  }

  private async enlist({ runId, data }: PlanRequested): Promise<void> {
    if (depthOf(runId) > 0) return;
    const { at, key } = this.keys.tenant(data.caller.tenant);
    await this.connection.run(at, listRun, [key], [runId, listedMs(this.ttl)]);
  }

  private async noteRetry(runId: string, retryKey: string): Promise<void> {
    const { at, key } = this.keys.retry(retryKey);
    await this.connection.run(at, noteRetry, [key], [runId, this.ttl.retryKeyMs]);
  }

  findRetry(retryKey: string): Promise<string | null> {
    const { at, key } = this.keys.retry(retryKey);
    return this.connection.run(at, findRetry, [key], []);
  }

  async header(runId: string): Promise<PlanRequested | null> {
    const { at, run } = this.keys.of(runId);
    const header = await this.connection.run(at, readHeader, [run], []);
    return header === null ? null : headerFrom(header);
  }

  async unpublished(olderThanMs: number, limit: number): Promise<readonly PlanRequested[]> {
    const found = await this.connection.everywhere(
      findUnpublished,
      ({ unpublished }) => [unpublished],
      ({ aroundRun }) => [olderThanMs, limit, ...aroundRun],
    );
    const headers = found
      .flat()
      .sort(([a], [b]) => Number(a) - Number(b))
      .slice(0, limit)
      .map(([, header]) => headerFrom(header));
    // A process that died before publishing may also have died before listing the run.
    await Promise.all(headers.map((header) => this.complete(header)));
    return headers;
  }

  private async complete(header: PlanRequested): Promise<void> {
    const { retryKey } = header.data;
    await Promise.all([this.enlist(header), ...(retryKey === undefined ? [] : [this.noteRetry(header.runId, retryKey)])]);
  }

  async openCount(): Promise<number> {
    const counts = await this.connection.everywhere(countOpen, ({ open }) => [open], []);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Also removes expired runs from the list. */
  async list({ tenant, limit, before }: Parameters<Runs['list']>[0]): Promise<readonly RunSummary[]> {
    const { at, key } = this.keys.tenant(tenant);
    const found: RunSummary[] = [];
    const gone: string[] = [];
    for (let from = before === undefined ? '+inf' : `(${before}`; found.length < limit;) {
      const page = inPairs(await this.connection.run(at, listPlaces, [key], [from, limit]));
      if (page.length === 0) break;
      const summaries = await this.summaries(page.map(([runId]) => runId));
      for (const [runId, acceptedAt] of page) {
        const [template, status, terminal, question] = summaries.get(runId)!;
        if (template === null) gone.push(runId);
        else if (found.length < limit)
          found.push({
            runId,
            template,
            status: status ?? '',
            terminal: terminal === '1',
            acceptedAt: Number(acceptedAt),
            question: question ?? '',
          });
      }
      from = `(${page.at(-1)![1]}`;
    }
    if (gone.length > 0) await this.connection.run(at, unlistRuns, [key], [acceptingMs, ...gone]);
    return found;
  }

  private async summaries(runIds: readonly string[]): Promise<ReadonlyMap<string, Summary>> {
    const found = new Map<string, Summary>();
    await Promise.all(
      this.byBucket(runIds).map(async ([at, here]) => {
        const runs = here.map((runId) => this.keys.of(runId).run);
        const read = await this.connection.run(at, readSummaries, runs, []);
        here.forEach((runId, n) => found.set(runId, read[n]!));
      }),
    );
    return found;
  }

  /** Returns null once the run has a place, otherwise the number of places taken. Frees places of ended runs first. */
  private async takePlace(runId: string, limit: number): Promise<number | null> {
    const { connection, keys } = this;
    const take = () => connection.run(keys.common, takePlace, [keys.places], [runId, limit]);
    const [taken, , ...holders] = await take();
    if (taken === 1) return null;
    const closed = await Promise.all(
      this.byBucket(holders).map(([at, here]) => connection.run(at, findClosed, [at.open], [...at.aroundRun, ...here])),
    );
    if (closed.some((found) => found.length > 0))
      await connection.run(keys.common, freePlaces, [keys.places], [acceptingMs, ...closed.flat()]);
    const [takenNow, open] = await take();
    return takenNow === 1 ? null : open;
  }

  private byBucket(runIds: readonly string[]): [Bucket, string[]][] {
    const found = new Map<Bucket, string[]>();
    for (const runId of runIds) {
      const { at } = this.keys.of(runId);
      found.set(at, [...(found.get(at) ?? []), runId]);
    }
    return [...found];
  }
}
