import { busyRetryMs } from './limits.js';
import type { BeginResult, CallOutcome, Journal, JournalCall } from './state.js';
import type { Paid, UsageLedger } from './usage-ledger.js';

/** Newest attempt of a step. */
export interface JournalEntry {
  readonly attempt: number;
  /** Null once it was abandoned. */
  owner: string | null;
  readonly nonce: string;
  readonly repeated: boolean;
  /** JSON of the outcome; empty once it is known to be on the log. */
  outcome: string | null;
}

export class MemoryJournal implements Journal {
  /** By step; a step names its run. */
  readonly entries = new Map<string, JournalEntry>();
  /** `<step> <attempt>` -> purpose. */
  private readonly purposeByRepeat = new Map<string, string>();

  constructor(
    protected readonly now: () => number,
    private readonly leaseLeftMs: (processId: string) => number,
    private readonly usage: Pick<UsageLedger, 'add'>,
    private readonly isErased: (runId: string) => boolean = () => false,
  ) {}

  /** Drops the calls of a run. */
  forget(runId: string): void {
    for (const step of this.entries.keys()) if (step.startsWith(`${runId}/`)) this.entries.delete(step);
  }

  async begin({ runId, step, nonce, owner }: Parameters<Journal['begin']>[0]): Promise<BeginResult> {
    if (this.isErased(runId)) return { kind: 'published' };
    const entry = this.entries.get(step);
    if (entry?.outcome === '') return { kind: 'published' };
    if (entry?.outcome) return { kind: 'done', outcome: JSON.parse(entry.outcome) as CallOutcome, attempt: entry.attempt };
    if (entry && entry.owner === owner && entry.nonce === nonce) return { kind: 'begun', attempt: entry.attempt, repeated: entry.repeated };
    const leftMs = entry?.owner ? this.leaseLeftMs(entry.owner) : 0;
    if (leftMs > 0) return { kind: 'busy', retryInMs: Math.min(leftMs, busyRetryMs) };
    const attempt = (entry?.attempt ?? 0) + 1;
    const repeated = entry !== undefined && entry.owner !== null;
    this.entries.set(step, { attempt, owner, nonce, repeated, outcome: null });
    return { kind: 'begun', attempt, repeated };
  }

  async finish(call: JournalCall, outcome: CallOutcome, paid?: Paid): Promise<'stored' | 'refused'> {
    const { step, attempt } = call;
    const text = JSON.stringify(outcome);
    if (paid) await this.usage.add({ ...call, ...paid });
    if (this.isErased(call.runId)) return 'stored';
    const entry = this.entries.get(step);
    if (entry?.attempt !== attempt) return 'refused';
    entry.outcome ??= text;
    return 'stored';
  }

  async abandon(call: JournalCall, paid?: Paid, unsent?: string): Promise<void> {
    const { step, attempt } = call;
    if (paid) await this.usage.add({ ...call, ...paid });
    const entry = this.entries.get(step);
    if (entry?.attempt !== attempt || entry.outcome !== null || (unsent !== undefined && entry.nonce !== unsent)) return;
    this.entries.set(step, { ...entry, attempt: unsent === undefined ? attempt : attempt - 1, owner: null, nonce: '' });
  }

  /** Forgets the outcome of a call that is on the log. */
  published({ step, attempt }: JournalCall): void {
    const entry = this.entries.get(step);
    if (entry?.attempt === attempt && entry.outcome !== null) entry.outcome = '';
  }

  async noteRepeat({ step, attempt, purpose }: Parameters<Journal['noteRepeat']>[0]): Promise<void> {
    this.purposeByRepeat.set(`${step} ${attempt}`, purpose);
  }

  async repeats(): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    for (const purpose of this.purposeByRepeat.values()) counts[purpose] = (counts[purpose] ?? 0) + 1;
    return counts;
  }

  async started(taskId: string): Promise<boolean> {
    for (const step of this.entries.keys()) if (step.startsWith(`${taskId}/`)) return true;
    return false;
  }
}
