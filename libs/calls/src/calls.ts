import type { AttachedReference, Event, FailureNote, TaskDispatched, Usage } from '@conclave/contracts';
import type { CallMessage, ModelCall, ModelReply, Runs, RunStream, StateStore } from '@conclave/ports';
import type { Prices } from './usage.js';

/** A message as the journal and the audit keep it, with references to attachments. */
export interface AskedMessage extends CallMessage {
  readonly attached?: readonly AttachedReference[];
}
/** Replaces references in messages right before a call. Throws the failures of the blobs. */
export type FillIn = (messages: readonly AskedMessage[]) => Promise<readonly CallMessage[]>;

/** One call that must not be paid twice. */
export interface JournalledCall {
  readonly runId: string;
  /** Task or plan the call belongs to. */
  readonly owner: string;
  /** Number of the call inside its owner. */
  readonly index: number;
  readonly purpose: string;
  readonly request: Omit<ModelCall, 'timeoutMs' | 'messages'> & { readonly messages: readonly AskedMessage[] };
  /** Milliseconds since 1970 by the store's clock. */
  readonly deadline: number;
  readonly prices: Prices;
  readonly signal: AbortSignal;
  /**
   * Whether the call is made after the end of the run, to learn from it. The end or cancel of the run does not stop it; only `signal` does.
   */
  readonly afterRun?: boolean;
  /** Absent if the call is wanted until it is cancelled. */
  readonly wanted?: CallCheck;
  /** Shows that the call begins: called before it is made, awaited before its end is returned. Idempotent: repeated after an outage. */
  readonly onBegun?: (attempt: number) => void | Promise<void>;
  /** Shows that the call waits for others of its provider, which gets `atATime` calls at a time. As `onBegun`, and at most once. */
  readonly onWaiting?: (attempt: number, atATime: number) => Promise<void>;
  /** Called with a reply that was made just now, while it is stored; awaited before its end is returned. Not called for a replayed one. */
  readonly onReply?: (reply: ModelReply, attempt: number) => void | Promise<void>;
  readonly onContent?: (text: string) => void;
}

/** Decides whether a call that was just begun is still wanted. An unwanted call is never made, and ends as if it were cancelled. */
export interface CallCheck {
  /** Whether `is` needs the state of the run. */
  readonly withState: boolean;
  /** `state` is that of the run; null if the run has none, or if `withState` is false. */
  is(state: unknown): boolean;
}

export type CallEnd =
  | {
      readonly kind: 'reply';
      readonly reply: ModelReply;
      readonly attempt: number;
      readonly replayed: boolean;
      readonly usage: Usage;
      readonly record: Event;
    }
  | { readonly kind: 'failed'; readonly failure: FailureNote; readonly attempt: number; readonly usage: Usage; readonly record: Event }
  | { readonly kind: 'cancelled'; readonly attempt: number; readonly usage: Usage; readonly record: Event | null }
  | { readonly kind: 'busy'; readonly retryInMs: number };

/** `maxReplyTokens`: a longer reply is cut off there, whatever limit the server got. */
export type JournalledModelCall = JournalledCall & { readonly maxReplyTokens?: number; readonly fillIn?: FillIn };
export type JournalledToolCall = Omit<JournalledCall, 'request' | 'prices' | 'onContent' | 'onReply' | 'onWaiting'> & {
  readonly name: string;
  readonly request: unknown;
  /** The task for which the call is made: its capability token is verified first. Null for a look-up that no plan requested. */
  readonly task: TaskDispatched | null;
  /** Whether a reply says that the tool failed, for its circuit breaker. */
  readonly isError?: (reply: string) => boolean;
};

/** How handlers call models and tools: `CallMaker` makes the calls, a replay answers from the recording. */
export interface Calls {
  readonly cancels: {
    /** Whether any of the ids is flagged, or its run is over. */
    isCancelled(ids: readonly string[]): Promise<boolean>;
  };
  model(call: JournalledModelCall): Promise<CallEnd>;
  /** `perform` makes the call; it runs only if the call has not been made before. */
  tool(call: JournalledToolCall, perform: (signal: AbortSignal) => Promise<string>): Promise<CallEnd>;
}

/** The part of the state that handlers of plans and tasks read. */
export interface WorkState {
  /** Milliseconds since 1970 by the store's clock. */
  now(): Promise<number>;
  readonly journal: Pick<StateStore['journal'], 'started'>;
  readonly runs: Pick<Runs, 'header' | 'read' | 'nextCommandSeq'>;
}

/** Shows a task's progress and text. */
export type ShownIn = Pick<RunStream, 'append'>;
