import { type ChatCompletionChunk, errorBody, type Failure } from '@conclave/contracts';
import type { JsonObject } from '@conclave/ports';
import type { ProgressMode } from './chat-request.js';
import type { ChunkFrame } from './chat-shapes.js';

/** The events of one streamed answer, as texts of whole server-sent events. */
export interface AnswerWriter {
  /** What comes before the first chunk. */
  open(): string;
  chunk(chunk: ChatCompletionChunk | JsonObject): string;
  /** What comes after the last chunk. */
  done(): string;
  /** The end of an answer that fails. */
  fail(failure: Failure): string;
}

/**
 * How an API presents an answer. Runs and direct calls both produce chat chunks, and every other API translates these, so all APIs share the same
 * engine, checks and limits.
 */
export interface AnswerShape {
  /** Prefix of the ids of its answers. */
  readonly prefix: string;
  /** Heartbeat while there is nothing to send; a comment line if absent. */
  readonly heartbeat?: string;
  /** How progress is shown when this mode was chosen. */
  modeOf(mode: ProgressMode): ProgressMode;
  writer(frame: ChunkFrame): AnswerWriter;
  /** Converts the body of a chat answer that is not streamed. */
  whole(completion: JsonObject, frame: ChunkFrame): object;
  /** Called when the answer has an id, before anything is sent. `runId`: null for a direct call. Throws STORE_*. */
  begun?(frame: ChunkFrame, runId: string | null): Promise<void>;
  /**
   * Called when a direct call has ended, or a turn whose text the record of its run will not have, before the end is sent. `completion`: null if it was
   * streamed. Throws STORE_*.
   */
  ended?(frame: ChunkFrame, completion: JsonObject | null): Promise<void>;
  /** Whether the record of a run has another form of the answer, so that `ended` is called at the end of a run too. */
  readonly differs?: boolean;
  /** Converts a name of the chat protocol, in the field and the sentence of an error, to the name that the client used. */
  named?(failure: Failure): Failure;
}

export const errorLine = (failure: Failure): string => `data: ${JSON.stringify(errorBody(failure))}\n\n`;

/** OpenAI's chat protocol itself. */
export const chatShape: AnswerShape = {
  prefix: 'chatcmpl-',
  modeOf: (mode) => mode,
  writer: () => ({
    open: () => '',
    chunk: (chunk) => `data: ${JSON.stringify(chunk)}\n\n`,
    done: () => 'data: [DONE]\n\n',
    fail: errorLine,
  }),
  whole: (completion) => completion,
};
