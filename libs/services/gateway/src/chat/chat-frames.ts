import {
  type AnswerFacts,
  type ChatCompletionChunk,
  type ClientToolsAsked,
  Failure,
  type FailureCode,
  failures,
  type FinishReason,
  type StreamBody,
  type RunCompletedEntry,
  type RunView,
  type Usage,
} from '@conclave/contracts';
import { AnswerText } from './answer-text.js';
import type { ProgressMode } from './chat-request.js';
import { calledTool, citations, type ChunkFrame, deltaChunk, finishChunk, statusChunk, usageChunk } from './chat-shapes.js';
import { progressMarkdown, progressText } from './progress-text.js';

/** What is sent for one entry. `end` is set when nothing follows. */
export interface Frames {
  readonly chunks: readonly ChatCompletionChunk[];
  readonly end?: { readonly failure: Failure | null };
  /** Whether answer text is among the chunks. */
  readonly content: boolean;
}

export interface FrameOptions {
  readonly frame: ChunkFrame;
  readonly runId: string;
  readonly mode: ProgressMode;
  readonly includeUsage: boolean;
}

/** Converts entries of a run to chunks of the OpenAI protocol, independently of connections and timers. */
export class ChatFrames {
  private readonly text = new AnswerText();
  private thinkOpen = false;
  private thinkClosed = false;

  constructor(private readonly options: FrameOptions) {}

  /** The first chunk: the role, once. */
  opening(): ChatCompletionChunk {
    return deltaChunk(this.options.frame, { role: 'assistant', content: '' });
  }

  take(entry: StreamBody): Frames {
    const step = this.text.take(entry);
    switch (step.kind) {
      case 'text':
        return { chunks: this.content(step.text), content: true };
      case 'done':
        return { chunks: this.finish(step.rest, step.answer, step.end), end: { failure: null }, content: step.rest !== '' };
      case 'ended':
        return this.fail(failureOf(step.end));
      case 'superseded':
        return this.fail(new Failure('ANSWER_SUPERSEDED', withoutKey(this.options.runId)));
      case 'nothing':
        return { chunks: this.progress(entry), content: false };
    }
  }

  /** The rest of a turn that ends with a question of the run: the question is its text. */
  asked(question: string, facts: AnswerFacts, usage: Usage): Frames {
    const { frame, includeUsage, mode } = this.options;
    const chunks = [
      ...this.content(question),
      ...(mode === 'status' ? [statusChunk(frame, facts.reason, true)] : []),
      finishChunk(frame, 'stop', facts),
      ...(includeUsage ? [usageChunk(frame, usage)] : []),
    ];
    return { chunks, end: { failure: null }, content: true };
  }

  /** The rest of a turn that ends with calls of the client's tools, with the text of the model that made them. */
  called({ said, calls }: ClientToolsAsked, facts: AnswerFacts, usage: Usage): Frames {
    const { frame, includeUsage, mode } = this.options;
    const chunks = [
      ...(said === null ? this.closeThinking() : this.content(said)),
      deltaChunk(frame, { tool_calls: calls.map((call, index) => ({ index, ...calledTool(call) })) }),
      ...(mode === 'status' ? [statusChunk(frame, facts.reason, true)] : []),
      finishChunk(frame, 'tool_calls', facts),
      ...(includeUsage ? [usageChunk(frame, usage)] : []),
    ];
    return { chunks, end: { failure: null }, content: said !== null };
  }

  /** The last frames of a stream that fails; an open thinking block is closed first. */
  fail(failure: Failure): Frames {
    return { chunks: this.closeThinking(), end: { failure }, content: false };
  }

  private content(text: string): ChatCompletionChunk[] {
    return [...this.closeThinking(), deltaChunk(this.options.frame, { content: text })];
  }

  private finish(rest: string, answer: string, end: RunCompletedEntry): ChatCompletionChunk[] {
    const { frame, includeUsage, mode, runId } = this.options;
    const annotations = [...citations(end.sources, answer)];
    const last =
      rest !== '' || annotations.length > 0
        ? [deltaChunk(frame, { content: rest, ...(annotations.length > 0 ? { annotations } : {}) })]
        : [];
    return [
      ...this.closeThinking(),
      ...last,
      ...(mode === 'status' ? [statusChunk(frame, end.reason, true)] : []),
      finishChunk(frame, finishOf(end), factsOf(runId, end)),
      ...(includeUsage ? [usageChunk(frame, end.usage)] : []),
    ];
  }

  /** Returns no progress once the answer has begun: a thinking block would split it in two. */
  private progress(entry: StreamBody): ChatCompletionChunk[] {
    const { frame, mode } = this.options;
    if (mode === 'none' || this.text.shown !== '') return [];
    const line = mode === 'status' ? progressText(entry) : progressMarkdown(entry);
    if (line === null) return [];
    if (mode === 'status') return [statusChunk(frame, line, false)];
    if (mode === 'reasoning') return [deltaChunk(frame, { reasoning_content: `${line}\n` })];
    const opening = this.thinkOpen ? '' : '<think>\n';
    this.thinkOpen = true;
    return [deltaChunk(frame, { content: `${opening}${withoutTags(line)}\n` })];
  }

  private closeThinking(): ChatCompletionChunk[] {
    if (!this.thinkOpen || this.thinkClosed) return [];
    this.thinkClosed = true;
    return [deltaChunk(this.options.frame, { content: '</think>\n\n' })];
  }
}

/** Shown to a client that sent no Idempotency-Key. */
const withoutKey = (runId: string): string =>
  `Without such a key, send it with the header X-Stainless-Retry-Count: 1. The run is ${runId}; GET /v1/runs/${runId}/events shows it.`;

/** Quoted model text must not close the surrounding block. */
const withoutTags = (line: string): string => line.replace(/<(?=\/?think)/gi, '‹');

export const finishOf = (end: RunCompletedEntry): FinishReason => (end.cutShort ? 'length' : 'stop');

export const factsOf = (runId: string, end: RunCompletedEntry): AnswerFacts => ({
  run_id: runId,
  outcome: end.outcome,
  rule: end.rule,
  reason: end.reason,
  rounds: end.rounds,
  calls: end.usage.calls,
  cost: end.usage.cost,
});

/** The fields of a turn that ends with a question of the run. */
export const factsOfQuestion = ({ id, decisions, roundsUsed }: RunView, usage: Usage): AnswerFacts => ({
  run_id: id,
  outcome: 'waiting',
  rule: decisions.at(-1)?.rule ?? null,
  reason: 'The run waits for an answer: send it as the next message of this conversation.',
  rounds: roundsUsed,
  calls: usage.calls,
  cost: usage.cost,
});

/** The fields of a turn that ends with calls of the client's tools. */
export const factsOfCalls = (runId: string, usage: Usage): AnswerFacts => ({
  ...{ run_id: runId, outcome: 'waiting', rule: null, rounds: 0, calls: usage.calls, cost: usage.cost },
  reason: 'The run waits for the results of these calls: send them with the next request of this conversation.',
});

/** The failure that says why a run has no answer. */
export function failureOf(end: RunCompletedEntry): Failure {
  if (end.outcome === 'cancelled') return new Failure('RUN_CANCELLED', end.reason);
  const { code, message, retryAfterMs } = end.failure ?? { message: end.reason };
  const options = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (code !== undefined && code in failures) return new Failure(code as FailureCode, detailOf(message, code as FailureCode), options);
  return new Failure('RUN_FAILED', message, options);
}

/** Drops the failure table's own sentence, which a note may already contain. */
const detailOf = (message: string, code: FailureCode): string | undefined => {
  const sentence = failures[code].message;
  const rest = message.startsWith(sentence) ? message.slice(sentence.length).trim() : message;
  return rest === '' ? undefined : rest;
};
