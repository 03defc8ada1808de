import type { AttachedReference, Event, FailureNote, Usage } from '@conclave/contracts';
import type { CallMessage, ModelCall, ModelReply, Runs, RunStream, StateStore } from '@conclave/ports';
import type { Prices } from './usage.js';

/** A message as the journal and the audit keep it: what is attached is referred to. */
export interface AskedMessage extends CallMessage {
  readonly attached?: readonly AttachedReference[];
}
/** Puts in what messages refer to, right before a call. Throws what the blobs throw. */
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
  /** Made for a run that is over, to learn from it: that the run has ended, or was told to, does not stop it; only `signal` does. */
  readonly afterRun?: boolean;
  readonly onBegun?: (attempt: number) => void | Promise<void>;
  readonly onContent?: (text: string) => void;
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

/** `maxReplyTokens`: a reply that grows longer is cut short there, whatever the server was told. */
export type JournalledModelCall = JournalledCall & { readonly maxReplyTokens?: number; readonly fillIn?: FillIn };
export type JournalledToolCall = Omit<JournalledCall, 'request' | 'prices' | 'onContent'> & {
  readonly name: string;
  readonly request: unknown;
};

/** How handlers reach models and tools: `CallMaker` makes the calls, a replay answers from what was recorded. */
export interface Calls {
  readonly cancels: {
    /** Whether any of the ids is flagged, or its run is over. */
    isCancelled(ids: readonly string[]): Promise<boolean>;
  };
  model(call: JournalledModelCall): Promise<CallEnd>;
  /** `perform` makes the call; it runs only where the call has not been made before. */
  tool(call: JournalledToolCall, perform: (signal: AbortSignal) => Promise<string>): Promise<CallEnd>;
}

/** All of the state that the handlers of plans and tasks look at. */
export interface WorkState {
  /** Milliseconds since 1970 by the store's clock. */
  now(): Promise<number>;
  readonly journal: Pick<StateStore['journal'], 'started'>;
  readonly runs: Pick<Runs, 'header' | 'read' | 'nextCommandSeq'>;
}

/** Where a task's progress and text are shown. */
export type ShownIn = Pick<RunStream, 'append'>;
