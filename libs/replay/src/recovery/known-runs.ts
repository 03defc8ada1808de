import type { CallRecorded, CommandIssued, PlanRequested, RunCompleted, StepRecorded } from '@conclave/contracts';
import { paidCallOf, type PaidCall, type RestoredCall, type StoredRecord } from '@conclave/ports';
import { keptCallOf, storedCallOf } from '@conclave/calls';
import type { RunRecords } from './rebuild-run.js';

/** Who issues the aborts of a recovery. */
export const recoveryActor = 'recover';

/** What has been read of one run so far. */
export class KnownRun {
  header: PlanRequested | null = null;
  completed: RunCompleted | null = null;
  readonly steps: StepRecorded[] = [];
  readonly unreadable: number[] = [];
  /** By step: the record of the highest attempt. */
  readonly calls = new Map<string, RestoredCall>();
  /** What every attempt of every call has used, for the usage ledger. */
  private paid: PaidCall[] = [];
  /** Steps of calls that answered and whose reply the log does not hold. */
  readonly withoutReply = new Set<string>();
  /** The log holds a request of it that cannot be read. */
  requestIsLost = false;
  cancelled = false;
  /** An earlier recovery has asked for its end already. */
  aborted = false;
  commandSeq = 0;

  constructor(readonly runId: string) {}

  /** Takes a record of the run; false for one that says nothing about its state. */
  take({ event, headers }: StoredRecord): boolean {
    switch (event?.type ?? headers['ce_type']) {
      case 'StepRecorded':
        if (event) this.steps.push(event as StepRecorded);
        else this.unreadable.push(Number(headers['ce_id']?.split('/').at(-1)));
        return true;
      case 'CallRecorded':
        // A call that a gateway made for a client directly belongs to no run and to no journal.
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

  /** Its terminal step and all before it have been read: nothing that comes can change it. */
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

  /** The calls read so far; they are given once. */
  takeCalls(): readonly RestoredCall[] {
    const calls = [...this.calls.values()];
    this.calls.clear();
    return calls;
  }

  /** What the calls read so far have used; it is given once. */
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
