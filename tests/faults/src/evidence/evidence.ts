import type { StreamEntry } from '@conclave/contracts';
import type { Mode } from '@conclave/contracts';
import type { HistoryEntry, Exit } from '@conclave/test-support';

/** One record of the log after the storm, read without the product's consumers. */
export interface LoggedRecord {
  readonly topic: string;
  readonly partition: number;
  /** Decimal digits. */
  readonly offset: string;
  /** When the log appended it, in milliseconds since 1970. */
  readonly appendedAt: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Id, type, run and body of the event; null if the record cannot be decoded. */
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly runId: string;
    readonly time: number;
    readonly data: unknown;
  } | null;
}

/** One attempt of a client to get a question answered. In the history it is `ask` with invoke / ok / fail / unknown. */
export interface AskedRun {
  /** Id of the client's operation in the history. */
  readonly id: string;
  readonly question: string;
  /** Set once the gateway has named the run: from then on the question is accepted. */
  readonly runId: string | null;
  /** Milliseconds since 1970. */
  readonly acceptedAt: number | null;
}

/** What one connection to `/v1/runs/{id}/events` showed, in the order of arrival. */
export interface Viewing {
  readonly runId: string;
  /** Number of the connection of its viewer, from 1; a viewer resumes with the last id it has. */
  readonly connection: number;
  readonly viewer: string;
  readonly lastEventId: number;
  readonly entries: readonly StreamEntry[];
}

/** Position that a group had recorded after the storm: every record before `offset` counts as done. */
export interface GroupPosition {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
}

/** How a process of the system ended when it was told to. */
export interface Closing {
  readonly process: string;
  readonly exit: Exit | null;
  readonly ms: number;
}

/** Resident memory of a process in MB: before the storm, and after it once everything had settled. */
export interface MemoryUse {
  readonly process: string;
  readonly beforeMb: number;
  readonly afterMb: number;
}

/** A run that a client deleted: when it was told so, and every place in which something of the run, or of its child runs, was found after the storm. */
export interface DeletedRun {
  readonly runId: string;
  readonly at: number;
  readonly left: readonly string[];
}

/** One request that a receiver of webhooks got. */
export interface Delivery {
  /** The same in all deliveries of one end. */
  readonly id: string;
  readonly at: number;
  /** Whether the receiver refused it, so that it must come again. */
  readonly refused: boolean;
  /** Run and outcome according to the body; null if it or its signature is invalid. */
  readonly runId: string | null;
  readonly outcome: string | null;
}

/** A promise that a scenario makes beyond those of every scenario, and that was not kept for a run, a call or a file. */
export interface Breach {
  readonly id: string;
  readonly sentence: string;
}

/** Everything the checker sees. It makes no requests: the same evidence returns the same verdict, even a year later. */
export interface Evidence {
  readonly scenario: string;
  readonly mode: Mode;
  /** When the evidence was gathered, in milliseconds since 1970: what was missing then may have appeared later. */
  readonly collectedAt: number;
  /** Lines of the clients (`ask`, `view`), of the fake model (`model.call`) and of the services, in the order of the file. */
  readonly history: readonly HistoryEntry[];
  readonly asked: readonly AskedRun[];
  readonly viewings: readonly Viewing[];
  /** Every topic from its beginning to its end. */
  readonly records: readonly LoggedRecord[];
  readonly committed: readonly GroupPosition[];
  /** Records that groups had not finished when the time to wait for them was over. */
  readonly lag: readonly { readonly group: string; readonly topic: string; readonly records: number }[];
  readonly memory: readonly MemoryUse[];
  readonly closings: readonly Closing[];
  /** `conclave replay --all --recorded` afterwards: exit code, output, and the model calls it caused. */
  readonly replay: { readonly code: number | null; readonly text: string; readonly modelCalls: number };
  /** Ends of processes before the orderly end, and freezes (`SIGSTOP`), with the time. */
  readonly deaths: readonly { readonly process: string; readonly at: number; readonly signal: string | null }[];
  /** Whether the model server was made to fail calls that are then retried: repeats of those are not our fault. */
  readonly upstreamFaults: boolean;
  /** Runs that the scenario itself ended without an answer, such as those of a record that kills its process. */
  readonly mayFail: readonly string[];
  /** Absent in scenarios that delete nothing. */
  readonly deleted?: readonly DeletedRun[];
  /** What the scenario itself saw that breaks its promise; absent or empty if it saw nothing. */
  readonly broken?: readonly Breach[];
  /** Runs whose end a receiver must have been told, and what it got. Absent in scenarios without webhooks. */
  readonly told?: { readonly runs: readonly string[]; readonly deliveries: readonly Delivery[] };
}

/** Limits that a scenario sets for its checks. */
export interface Bounds {
  /** Milliseconds from acceptance (or the last fault) to the terminal event; 60,000. */
  readonly terminalMs: number;
  /** Least share of accepted runs that must end with an answer; 0.8. */
  readonly answered: number;
  /** Least number of accepted runs; 1. */
  readonly accepted: number;
  /** Factor by which memory may have grown, in addition to 64 MB; 1.5. */
  readonly memoryFactor: number;
  /** Milliseconds a process may take to end after SIGTERM; 15,000. */
  readonly closeMs: number;
  /** Milliseconds that the groups may take after the storm to finish everything on the log; 60,000. */
  readonly calmMs: number;
  /** Runs that may end with `failed` or `cancelled`, such as those that a poisoned record aborts. */
  readonly mayFail: readonly string[];
  /**
   * Set if no record of the scenario is faulty: every dead letter is then a finding. If absent, the scenario itself judges dead letters.
   */
  readonly soundRecords?: true;
  /** Streams may start again after multiples of this id, with all their facts, as in a rebuilt state store. If absent, they never do. */
  readonly streamsAnewAbove?: number;
}
export const defaultBounds: Bounds = {
  terminalMs: 60_000,
  answered: 0.8,
  accepted: 1,
  memoryFactor: 1.5,
  closeMs: 15_000,
  calmMs: 60_000,
  mayFail: [],
};

/** The checks of docs/guarantees.md, in its order; `enough-succeeded` guards against runs that prove nothing. */
export const checkNames = [
  'one-terminal-event', // 1
  'acknowledged-appends', // 2
  'one-effective-outcome', // 3
  'commit-after-effect', // 4
  'stream-without-gaps', // 5
  'model-calls-bounded', // 6
  'replay-the-same', // 7
  'calm-afterwards', // 8
  'deleted-is-gone', // 9
  'webhooks-told', // 10
  'right-answer', // 11
  'own-promise', // 12
  'enough-succeeded',
] as const;
export type CheckName = (typeof checkNames)[number];

/** One violation: the id concerned and a sentence. */
export interface Finding {
  readonly check: CheckName;
  readonly id: string;
  readonly sentence: string;
}

/** Figures of the table. */
export interface Figures {
  readonly accepted: number;
  readonly answered: number;
  readonly deaths: number;
  /** Calls made although an earlier attempt of the same step had been begun. */
  readonly duplicateCalls: number;
  /** Tokens used by the model server that no result of a run counts. */
  readonly tokensWasted: number;
}
