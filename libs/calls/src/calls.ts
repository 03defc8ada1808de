import type { AttachedReference } from '@conclave/contracts';
import type { CallMessage, Runs, RunStream, StateStore } from '@conclave/ports';
import type { CallEnd, JournalledCall } from './call-maker.js';

/** A message as the journal and the audit keep it: what is attached is referred to. */
export interface AskedMessage extends CallMessage {
  readonly attached?: readonly AttachedReference[];
}
/** Puts in what messages refer to, right before a call. Throws what the blobs throw. */
export type FillIn = (messages: readonly AskedMessage[]) => Promise<readonly CallMessage[]>;

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
