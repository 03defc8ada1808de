import type { EngineEntry, Event, PlanRequested } from '@conclave/contracts';
import type { StoreMark } from '../event-log/event-log.js';
import type { BlobRef } from '../blobs/blobs.js';
import type { CallOutcome, ErasedRun, TimerToArm } from './state.js';
import type { PaidCall } from './usage-ledger.js';

/**
 * Writes the log's content into a state store that is empty or older than the log. Only `conclave recover` uses it. It works on a store in
 * any condition. Other processes cannot use the store between `begin` and `end`. Every call may be repeated. Throws STORE_UNAVAILABLE,
 * STORE_FULL.
 */
export interface Recovery {
  /** Ids of the processes with live leases in this store: they may be consuming. */
  live(): Promise<readonly string[]>;
  /** Every process finds the store replaced until `end`, so processes stay unhealthy after an interrupted recovery. */
  begin(storeId: string): Promise<void>;
  /**
   * Writes a run in one atomic step. Returns `kept` if the store has this version or a newer one: then it only adds what is missing
   * (header, retry mapping, cancel flags) and raises numbers. In both cases an open run's stream is renumbered above `streamBase`, because
   * readers of the lost stream may have seen any lower id.
   */
  run<S>(restored: RestoredRun<S>, above: Above): Promise<'restored' | 'kept'>;
  /** Writes finished calls if the journal has no outcome of the step. Returns how many were written. */
  calls(runId: string, calls: readonly RestoredCall[]): Promise<number>;
  /** Adds calls to the usage ledger. Existing ones stay unchanged, so that recovering an older copy of the store counts nothing twice. */
  paid(calls: readonly PaidCall[]): Promise<void>;
  /** Records that a body is lost, so that its records count as undecodable instead of waiting for it. An existing body stays. */
  bodyLost(body: Pick<BlobRef, 'sha256'>): Promise<void>;
  /** Replaces all data of an erased run by its tombstone. */
  erased(run: ErasedRun): Promise<void>;
  /** Marks the store as belonging to the log again. */
  end(mark: StoreMark): Promise<void>;
}

/** One run, reconstructed from the log. */
export interface RestoredRun<S> {
  readonly runId: string;
  /** Null if it is no longer on the log: the run then appears in no list. */
  readonly header: PlanRequested | null;
  readonly retryKey: string | null;
  /** Version of the state; 0 (and no state) if no step has taken the run's request yet: it is published again. */
  readonly version: number;
  readonly state: S | null;
  readonly status: string;
  readonly terminal: boolean;
  /** Milliseconds since 1970 when it ended, null while it is open. */
  readonly endedAt: number | null;
  /** Every input it has taken, with the outputs to publish if the input is redelivered. */
  readonly applied: readonly { readonly eventId: string; readonly outputs: readonly Event[] }[];
  /** Facts of its stream in order, each with its time in milliseconds since 1970. */
  readonly entries: readonly { readonly at: number; readonly entry: EngineEntry }[];
  /** Timers that are armed. */
  readonly timers: readonly TimerToArm[];
  /** Names of timers that are no longer armed. */
  readonly disarmed: readonly string[];
  /** Cancelled ids: the run or tasks of it. */
  readonly cancels: readonly string[];
}

/** Numbers that must not be reused: the lost store may have assigned any up to them. */
export interface Above {
  /** Highest id a stream entry may have had. */
  readonly streamBase: number;
  /** Highest attempt of a call that may have begun without a surviving record. */
  readonly attempt: number;
  /** Highest number a command of this run may have had. */
  readonly commandSeq: number;
}

/** An ended call, from its audit record. */
export interface RestoredCall {
  readonly step: string;
  readonly attempt: number;
  readonly outcome: CallOutcome;
}

/** Upper bound of process starts and lease renewals between two recoveries. */
const raisesPerRecovery = 1e12;

/** How often the store of a log was rebuilt: each recovery raises the generation to the next multiple. */
export const recoveriesOf = ({ generation }: StoreMark): number => Math.floor(generation / raisesPerRecovery);

/** The mark of a log's store after one more recovery: newer for every process that has seen an earlier one. */
export const markAfterRecovery = (mark: StoreMark): StoreMark => ({
  storeId: mark.storeId,
  generation: (recoveriesOf(mark) + 1) * raisesPerRecovery,
});

/** Upper bounds between two recoveries: entries of one stream, attempts of one call, commands of one run. */
const perRecovery = { streamBase: 1_000_000, attempt: 100, commandSeq: 100 };

/** Numbers above all that earlier stores of the log may have assigned. `commandSeq` is the run's highest command number in the log. */
export function aboveLost(mark: StoreMark, commandSeq: number): Above {
  const times = recoveriesOf(mark) + 1;
  return {
    streamBase: times * perRecovery.streamBase,
    attempt: times * perRecovery.attempt,
    commandSeq: commandSeq + times * perRecovery.commandSeq,
  };
}
