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
 * How an API shows an answer. Runs and direct calls both speak chat chunks; every other API is a translation of those, so that all APIs
 * have the same engine, checks and limits behind them.
 */
export interface AnswerShape {
  /** Begins the ids of its answers. */
  readonly prefix: string;
  /** What is sent while there is nothing to say; a comment line if absent. */
  readonly heartbeat?: string;
  /** How progress is shown where this mode was chosen. */
  modeOf(mode: ProgressMode): ProgressMode;
  writer(frame: ChunkFrame): AnswerWriter;
  /** The body of an answer that is not streamed, from that of the chat protocol. */
  whole(completion: JsonObject, frame: ChunkFrame): object;
  /** Called when the answer has an id, before anything is sent. `runId`: null for a direct call. Throws STORE_*. */
  begun?(frame: ChunkFrame, runId: string | null): Promise<void>;
  /** Called when a direct call has ended, before its end is sent. `completion`: null if it was streamed. Throws STORE_*. */
  ended?(frame: ChunkFrame, completion: JsonObject | null): Promise<void>;
  /** A name of the chat protocol as its client wrote it, in the field and the sentence of an error. */
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
