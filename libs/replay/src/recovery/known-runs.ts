import type { CallRecorded, CommandIssued, PlanRequested, RunCompleted, StepRecorded } from '@conclave/contracts';
import { paidCallOf, type PaidCall, type RestoredCall, type StoredRecord } from '@conclave/ports';
import { keptCallOf, storedCallOf } from '@conclave/calls';
import type { RunRecords } from './rebuild-run.js';

/** Issuer of a recovery's aborts. */
export const recoveryActor = 'recover';

/** What has been read of one run so far. */
export class RunOnLog {
  header: PlanRequested | null = null;
  completed: RunCompleted | null = null;
  readonly steps: StepRecorded[] = [];
  readonly unreadable: number[] = [];
  /** By step: the record of the highest attempt. */
  readonly calls = new Map<string, RestoredCall>();
  /** Usage of every attempt of every call, for the usage ledger. */
  private paid: PaidCall[] = [];
  /** Steps of answered calls whose reply is not on the log. */
  readonly withoutReply = new Set<string>();
  /** Whether the log contains an unreadable request of this run. */
  requestIsLost = false;
  cancelled = false;
  /** Whether an earlier recovery has already requested its end. */
  aborted = false;
  commandSeq = 0;

  constructor(readonly runId: string) {}

  /** Reads a record of the run; returns false if it does not affect the run's state. */
  take({ event, headers }: StoredRecord): boolean {
    switch (event?.type ?? headers['ce_type']) {
      case 'StepRecorded':
        if (event) this.steps.push(event as StepRecorded);
        else this.unreadable.push(Number(headers['ce_id']?.split('/').at(-1)));
        return true;
      case 'CallRecorded':
        // A call that a gateway made directly for a client belongs to no run and no journal.
        if ((event?.source ?? headers['ce_source']) === 'gateway') return false;
        this.call(event as CallRecorded | null, headers['ce_id'] ?? '');
        return true;
      case 'PlanRequested':
        if (event) this.header = event as PlanRequested;
        else this.requestIsLost = true;
        return true;
      case 'RunCompleted':
        if (event) this.completed = event as RunCompleted;
        return true;
      case 'CommandIssued':
        if (event) this.command(event as CommandIssued);
        return true;
      default:
        return false;
    }
  }

  /** Whether the terminal step and everything before it have been read: later records cannot change the run. */
  get isWhole(): boolean {
    const last = this.steps.at(-1);
    return (
      last?.data.outputs.some(({ type }) => type === 'RunCompleted') === true &&
      new Set(this.steps.map(({ data }) => data.version)).size === last.data.version
    );
  }

  records(): RunRecords {
    const { runId, header, steps, unreadable, completed, cancelled } = this;
    return { runId, header, steps, unreadable: unreadable.filter(Number.isSafeInteger), completed, cancelled };
  }

  /** Returns the calls read so far, each only once. */
  takeCalls(): readonly RestoredCall[] {
    const calls = [...this.calls.values()];
    this.calls.clear();
    return calls;
  }

  /** Returns the usage read so far, each entry only once. */
  takePaid(): readonly PaidCall[] {
    const paid = this.paid;
    this.paid = [];
    return paid;
  }

  private call(event: CallRecorded | null, id: string): void {
    if (event) this.paid.push(paidCallOf(event));
    const stored = event && storedCallOf(event.data);
    if (!event || !stored) return void this.withoutReply.add(event?.data.step ?? id.slice(0, id.lastIndexOf('/')));
    const { step, attempt } = event.data;
    if ((this.calls.get(step)?.attempt ?? 0) <= attempt)
      this.calls.set(step, { step, attempt, outcome: { ok: true, reply: keptCallOf(stored) } });
  }

  private command({ data }: CommandIssued): void {
    this.commandSeq = Math.max(this.commandSeq, data.seq);
    if (data.command.name === 'cancel') this.cancelled = true;
    if (data.command.name === 'abort' && data.actor === recoveryActor) this.aborted = true;
  }
}
