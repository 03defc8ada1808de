import { depthOf, Failure, type Event, type PlanRequested } from '@conclave/contracts';
import type { MemoryRunStream } from '../run-stream/memory-run-stream.js';
import { acceptedStatus, awayOwner, commitAttempts, erasedStatus, parkedFlag } from './limits.js';
import type { MemoryHints } from './memory-hints.js';
import type { MemoryTimers } from './memory-timers.js';
import type { AcceptRequest, AcceptResult, Committed, ErasedRun, Runs, RunSummary, Step, StepTime, StoredRun } from './state.js';

/** A stored run: values are JSON, so that callers cannot change them. */
export interface RunRow {
  readonly runId: string;
  readonly acceptedAt: number;
  readonly header: PlanRequested | null;
  readonly version: number;
  readonly state: string | null;
  readonly status: string;
  readonly terminal: boolean;
  readonly erased?: ErasedRun;
}

/** A step to be written. */
export interface StepWrite {
  readonly state: string;
  readonly outputs: string;
  readonly step: Step<unknown>;
}

interface Parts {
  readonly now: () => number;
  readonly retryKeyMs: number;
  readonly stream: MemoryRunStream;
  readonly timers: MemoryTimers;
  readonly hints: MemoryHints;
  readonly alive: (processId: string) => boolean;
  /** Forgets the calls of a run. */
  readonly forget: (runId: string) => void;
  readonly between?: () => Promise<void>;
}

export class MemoryRuns implements Runs {
  readonly rows = new Map<string, RunRow>();
  /** `<run> <event>` -> JSON of the outputs. */
  readonly applied = new Map<string, string>();
  readonly retries = new Map<string, { readonly runId: string; readonly at: number }>();
  readonly flagged = new Set<string>();
  /** By run: client -> process that attached it. */
  readonly clients = new Map<string, Map<string, string>>();
  /** When a run was parked. */
  readonly parkedAt = new Map<string, number>();
  private readonly sequences = new Map<string, number>();
  private newest = 0;

  constructor(protected readonly parts: Parts) {}

  async accept({ header, retryKey, openLimit }: AcceptRequest): Promise<AcceptResult> {
    const open = this.open();
    const row = this.rows.get(header.runId);
    if (row?.erased) return { kind: 'erased' };
    if (!row?.header && !row?.terminal && open >= openLimit && depthOf(header.runId) === 0) return { kind: 'overloaded', open };
    this.addHeader(header);
    if (retryKey !== null) this.mapRetry(retryKey, header.runId);
    return { kind: 'accepted' };
  }

  /** Set if absent. */
  mapRetry(retryKey: string, runId: string): void {
    const { now, retryKeyMs } = this.parts;
    const known = this.retries.get(retryKey);
    if (!known || known.at + retryKeyMs <= now()) this.retries.set(retryKey, { runId, at: now() });
  }

  async findRetry(retryKey: string): Promise<string | null> {
    const { now, retryKeyMs } = this.parts;
    const known = this.retries.get(retryKey);
    return known && known.at + retryKeyMs > now() ? known.runId : null;
  }

  async header(runId: string): Promise<PlanRequested | null> {
    return structuredClone(this.rows.get(runId)?.header ?? null);
  }

  async unpublished(olderThanMs: number, limit: number): Promise<readonly PlanRequested[]> {
    // Runs of one millisecond have distinct times, the last of which may be in the future.
    const before = Math.max(this.parts.now(), this.newest) - olderThanMs;
    return [...this.rows.values()]
      .filter(({ version, header, acceptedAt }) => version === 0 && header !== null && acceptedAt <= before)
      .sort((a, b) => a.acceptedAt - b.acceptedAt)
      .slice(0, limit)
      .map(({ header }) => structuredClone(header!));
  }

  async commit<S>(event: Event, step: (current: S | null, at: StepTime) => Step<S> | null): Promise<Committed<S>> {
    const now = this.parts.now();
    for (let attempt = 0; attempt < commitAttempts; attempt += 1) {
      const row = this.rows.get(event.runId);
      if (row?.erased) return { outputs: [], repeated: false, state: null };
      const current = row?.state ? (JSON.parse(row.state) as S) : null;
      const outputs = this.appliedOutputs(event);
      if (outputs !== null) return { outputs, repeated: true, state: current };
      const version = row?.version ?? 0;
      const result = step(current, { now, version });
      if (result === null) return { outputs: [], repeated: false, state: null };
      const write: StepWrite = { state: JSON.stringify(result.next), outputs: JSON.stringify(result.outputs), step: result };
      await this.parts.between?.();
      if (this.compareAndSet(event, version, write)) return { outputs: result.outputs, repeated: false, state: result.next };
    }
    throw new Failure('COMMIT_CONFLICT', `${event.id} met another writer ${commitAttempts} times.`);
  }

  /** Outputs of an applied event; null if it was not applied. */
  appliedOutputs(event: Event): readonly Event[] | null {
    const outputs = this.applied.get(`${event.runId} ${event.id}`);
    return outputs === undefined ? null : (JSON.parse(outputs) as Event[]);
  }

  /** The atomic half of a commit: returns false and writes nothing if the run's version has changed. */
  compareAndSet(event: Event, version: number, write: StepWrite): boolean {
    if ((this.rows.get(event.runId)?.version ?? 0) !== version) return false;
    this.write(event, version, write);
    return true;
  }

  /** Writes a step regardless of the current version. */
  write(event: Event, version: number, { state, outputs, step }: StepWrite): void {
    const { runId } = event;
    // A log that is read again into an empty store contains runs that were never accepted here.
    if (event.type === 'PlanRequested') this.addHeader(event as PlanRequested);
    const row = this.rows.get(runId) ?? { runId, acceptedAt: this.parts.now(), header: null, terminal: false };
    this.rows.set(runId, { ...row, version: version + 1, state, status: step.status, terminal: row.terminal || step.terminal });
    this.noteApplied(event, outputs);
    this.parts.timers.change(runId, step.disarm, step.arm);
    for (const id of step.cancels) this.flag(id);
    this.parts.stream.write(runId, step.entries);
  }

  /** Forgets the outputs of a step that are on the log. */
  published({ runId, eventId }: { readonly runId: string; readonly eventId: string }): void {
    const name = `${runId} ${eventId}`;
    if (this.applied.has(name)) this.applied.set(name, '[]');
  }

  noteApplied(event: Event, outputs: string): void {
    this.applied.set(`${event.runId} ${event.id}`, outputs);
  }

  async read<S>(runId: string): Promise<StoredRun<S> | null> {
    const row = this.rows.get(runId);
    if (!row?.state) return null;
    return { version: row.version, state: JSON.parse(row.state) as S, status: row.status, terminal: row.terminal };
  }

  async erase(run: Omit<ErasedRun, 'erasedAt'>): Promise<'erased' | 'open'> {
    const row = this.rows.get(run.runId);
    if (row && !row.terminal) return 'open';
    if (!row?.erased) this.eraseNow({ ...run, erasedAt: this.parts.now() });
    return 'erased';
  }

  /** Replaces the run by its tombstone. */
  eraseNow(erased: ErasedRun): void {
    const { runId } = erased;
    const { version = 0, acceptedAt = this.parts.now() } = this.rows.get(runId) ?? {};
    this.rows.set(runId, { runId, acceptedAt, header: null, version, state: null, status: erasedStatus, terminal: true, erased });
    for (const name of this.applied.keys()) if (name.startsWith(`${runId} `)) this.applied.set(name, '[]');
    for (const ofRun of [this.clients, this.parkedAt, this.sequences]) ofRun.delete(runId);
    this.parts.stream.erase(runId);
    this.parts.forget(runId);
  }

  async erased(runId: string): Promise<ErasedRun | null> {
    return this.rows.get(runId)?.erased ?? null;
  }

  async list({ tenant, limit, before = Number.MAX_SAFE_INTEGER }: Parameters<Runs['list']>[0]): Promise<readonly RunSummary[]> {
    return [...this.rows.values()]
      .filter(({ header, acceptedAt }) => header?.data.caller.tenant === tenant && depthOf(header.runId) === 0 && acceptedAt < before)
      .sort((a, b) => b.acceptedAt - a.acceptedAt)
      .slice(0, limit)
      .map(({ runId, header, status, terminal, acceptedAt }) => ({
        runId,
        template: header!.data.template.id,
        status,
        terminal,
        acceptedAt,
        question: header!.data.goal,
      }));
  }

  async openCount(): Promise<number> {
    return this.open();
  }

  async cancel(id: string): Promise<void> {
    this.flag(id);
  }

  flag(id: string): void {
    this.flagged.add(id);
    this.parts.hints.send('cancel', id);
  }

  async cancelled(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(ids.filter((id) => this.flagged.has(id) || this.rows.get(id.split('/', 1)[0]!)?.terminal === true));
  }

  async nextCommandSeq(runId: string): Promise<number> {
    const next = (this.sequences.get(runId) ?? 0) + 1;
    this.sequences.set(runId, next);
    return next;
  }

  async attach(runId: string, clientId: string, owner = ''): Promise<number> {
    const clients = this.clients.get(runId) ?? new Map<string, string>();
    for (const [id, its] of clients) if (its === awayOwner) clients.delete(id);
    this.clients.set(runId, clients.set(clientId, owner));
    this.takeUp(runId);
    return this.attached(runId, owner);
  }

  async detach(runId: string, clientId: string, owner = ''): Promise<number> {
    this.clients.get(runId)?.delete(clientId);
    return this.attached(runId, owner);
  }

  async leave(runId: string, clientId: string, owner = ''): Promise<number> {
    const clients = this.clients.get(runId) ?? new Map<string, string>();
    this.clients.set(runId, clients.set(clientId, awayOwner));
    const left = this.attached(runId, owner);
    if (left > 0 || this.rows.get(runId)?.terminal !== false) return left;
    if (!this.parkedAt.has(runId)) this.parkedAt.set(runId, this.parts.now());
    this.flag(parkedFlag(runId));
    return left;
  }

  async park(parkMs: number, limit: number): Promise<{ readonly parked: number; readonly overdue: readonly string[] }> {
    const now = this.parts.now();
    const abandoned = [...this.clients].flatMap(([runId, clients]) => {
      const isOpen = this.rows.get(runId)?.terminal === false;
      return isOpen && clients.size > 0 && ![...clients.values()].some((owner) => this.parts.alive(owner)) ? [runId] : [];
    });
    const fresh = abandoned.filter((runId) => !this.parkedAt.has(runId));
    for (const runId of fresh) {
      this.parkedAt.set(runId, now);
      this.flag(parkedFlag(runId));
    }
    for (const runId of [...this.parkedAt.keys()]) if (!abandoned.includes(runId)) this.takeUp(runId);
    const overdue = [...this.parkedAt].filter(([, at]) => at + parkMs <= now).sort(([, a], [, b]) => a - b);
    return { parked: fresh.length, overdue: overdue.slice(0, limit).map(([runId]) => runId) };
  }

  private takeUp(runId: string): void {
    this.parkedAt.delete(runId);
    this.flagged.delete(parkedFlag(runId));
  }

  private attached(runId: string, caller: string): number {
    return [...(this.clients.get(runId)?.values() ?? [])].filter((owner) => owner === caller || this.parts.alive(owner)).length;
  }

  /** Sets the header if absent. Acceptance times are unique, so that lists can be paged by them. */
  private addHeader(header: PlanRequested): void {
    const row = this.rows.get(header.runId);
    if (row?.header) return;
    this.newest = Math.max(this.parts.now(), this.newest + 1);
    const fresh = { runId: header.runId, version: 0, state: null, status: acceptedStatus, terminal: false };
    this.rows.set(header.runId, { ...(row ?? fresh), acceptedAt: this.newest, header: structuredClone(header) });
  }

  private open(): number {
    return [...this.rows.values()].filter(({ terminal, header }) => !terminal && header !== null && depthOf(header.runId) === 0).length;
  }
}
