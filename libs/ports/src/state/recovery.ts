import type { EngineEntry, Event, PlanRequested } from '@conclave/contracts';
import type { StoreMark } from '../event-log/event-log.js';
import type { BlobRef } from '../blobs/blobs.js';
import type { CallOutcome, TimerToArm } from './state.js';
import type { PaidCall } from './usage-ledger.js';

/**
 * Writes what a log tells into a state store that is empty or older than it. Only `conclave recover` has one. It works on whatever
 * store is there; nobody else can between `begin` and `end`. Every call may be repeated. Throws STORE_UNAVAILABLE, STORE_FULL.
 */
export interface Recovery {
  /** Ids of the processes whose leases live in this store: they may be consuming. */
  live(): Promise<readonly string[]>;
  /** From here on every process finds the store replaced, until `end`: an interrupted recovery stays red. */
  begin(storeId: string): Promise<void>;
  /**
   * Writes a run in one atomic step. `kept` when the store holds this version of it or a newer one: then only what is missing
   * is added (header, retry mapping, cancel flags) and numbers are raised. An open run's stream is numbered anew above
   * `streamBase` in both cases, because the readers of the lost one may have seen any lower id.
   */
  run<S>(restored: RestoredRun<S>, above: Above): Promise<'restored' | 'kept'>;
  /** Writes finished calls where the journal has no outcome of the step. Gives how many were written. */
  calls(runId: string, calls: readonly RestoredCall[]): Promise<number>;
  /** Adds calls to the usage ledger. Those that are in it stay as they are, so that an older copy of the store counts nothing twice. */
  paid(calls: readonly PaidCall[]): Promise<void>;
  /** Notes that a body is gone for good, so that its records count as undecodable instead of waiting for it. A body that is there stays. */
  bodyLost(body: Pick<BlobRef, 'sha256'>): Promise<void>;
  /** The store belongs to the log again. */
  end(mark: StoreMark): Promise<void>;
}

/** One run as the log tells it. */
export interface RestoredRun<S> {
  readonly runId: string;
  /** Null where the log does not hold it any more: the run is then in no list. */
  readonly header: PlanRequested | null;
  readonly retryKey: string | null;
  /** Of the state; 0 (and no state) for a run whose request no step has taken yet: it is published again. */
  readonly version: number;
  readonly state: S | null;
  readonly status: string;
  readonly terminal: boolean;
  /** Milliseconds since 1970 when it ended, null while it is open. */
  readonly endedAt: number | null;
  /** Every input it has taken, with the outputs to publish when the input comes again. */
  readonly applied: readonly { readonly eventId: string; readonly outputs: readonly Event[] }[];
  /** Facts of its stream in order, each with its time in milliseconds since 1970. */
  readonly entries: readonly { readonly at: number; readonly entry: EngineEntry }[];
  /** Timers that are armed. */
  readonly timers: readonly TimerToArm[];
  /** Names of timers that were armed and are not any more. */
  readonly disarmed: readonly string[];
  /** Ids of the run or of tasks of it that are flagged as cancelled. */
  readonly cancels: readonly string[];
}

/** Numbers that must not be given again: the lost store may have given any up to them. */
export interface Above {
  /** Highest id an entry of a stream may have had. */
  readonly streamBase: number;
  /** Highest attempt a call may have had whose begin is lost. */
  readonly attempt: number;
  /** Highest number a command of this run may have had. */
  readonly commandSeq: number;
}

/** A call that ended, as its audit record tells it. */
export interface RestoredCall {
  readonly step: string;
  readonly attempt: number;
  readonly outcome: CallOutcome;
}

/** Starts of processes and renewals of their leases between two recoveries: more than there will ever be. */
const raisesPerRecovery = 1e12;

/** How often the store of a log was rebuilt: each recovery lifts the generation to the next multiple. */
export const recoveriesOf = ({ generation }: StoreMark): number => Math.floor(generation / raisesPerRecovery);

/** The mark of a log's store after one more recovery: newer for every process that has seen an earlier one. */
export const markAfterRecovery = (mark: StoreMark): StoreMark => ({
  storeId: mark.storeId,
  generation: (recoveriesOf(mark) + 1) * raisesPerRecovery,
});

/** Entries of one stream, attempts of one call and commands of one run between two recoveries: more than there will ever be. */
const perRecovery = { streamBase: 1_000_000, attempt: 100, commandSeq: 100 };

/** Numbers above all that earlier stores of the log may have given. `commandSeq` is the highest number the log shows of the run's commands. */
export function aboveLost(mark: StoreMark, commandSeq: number): Above {
  const times = recoveriesOf(mark) + 1;
  return {
    streamBase: times * perRecovery.streamBase,
    attempt: times * perRecovery.attempt,
    commandSeq: commandSeq + times * perRecovery.commandSeq,
  };
}
