import type { ChatCompletionChunk, Failure, FinishReason } from '@conclave/contracts';
import type { ModelReply } from '@conclave/ports';
import type { Response } from 'express';
import type { GatewayLimits, GatewayMetrics, StreamEnd } from '../options.js';
import { Sse } from '../stream/sse.js';
import { errorLine } from './chat-frames.js';
import { type ChunkFrame, deltaChunk, finishChunk, usageChunk } from './chat-shapes.js';

/** Characters kept for a client that reads slower than its model writes. */
const longestBacklog = 1_000_000;

/**
 * The stream of a direct call. Its head waits a moment for the first token, so that a provider which refuses at
 * once is an ordinary HTTP error; after that the role goes out and heartbeats begin.
 */
export class DirectStream {
  private readonly sse: Sse;
  private readonly headTimer: NodeJS.Timeout;
  private readonly began = performance.now();
  private sent = '';
  private backlog = '';
  private over = false;
  opened = false;

  constructor(
    response: Response,
    private readonly frame: ChunkFrame,
    limits: GatewayLimits,
    private readonly metrics: GatewayMetrics,
    private readonly drop: () => void,
  ) {
    this.sse = new Sse(response, limits, { drained: () => this.flush(), tooSlow: () => this.tooSlow() });
    this.headTimer = setTimeout(() => this.open(), limits.directHeadMs);
  }

  take(delta: { readonly content?: string; readonly reasoning?: string }): void {
    if (this.over) return;
    const first = this.sent === '' && delta.content;
    const chunks = [
      ...(delta.reasoning ? [deltaChunk(this.frame, { reasoning_content: delta.reasoning })] : []),
      ...(delta.content ? [deltaChunk(this.frame, { content: delta.content })] : []),
    ];
    if (chunks.length === 0) return;
    this.open();
    this.sent += delta.content ?? '';
    this.backlog += lines(chunks);
    if (first) this.metrics.onFirstContent('direct', performance.now() - this.began);
    if (this.backlog.length > longestBacklog) return this.tooSlow();
    this.flush();
  }

  finish(reply: ModelReply, reason: FinishReason, includeUsage: boolean): void {
    if (this.over) return;
    this.open();
    // An adapter may have held the end of the text back; what was shown is its beginning.
    const rest = reply.content.startsWith(this.sent) ? reply.content.slice(this.sent.length) : '';
    const chunks = [
      ...(rest === '' ? [] : [deltaChunk(this.frame, { content: rest })]),
      finishChunk(this.frame, reason),
      ...(includeUsage ? [usageChunk(this.frame, reply.usage)] : []),
    ];
    this.end(`${lines(chunks)}data: [DONE]\n\n`, 'finished');
  }

  fail(failure: Failure): void {
    if (this.over) return;
    this.end(errorLine(failure), failure.code === 'SHUTTING_DOWN' ? 'shutdown' : 'failed');
  }

  /** The head never went out: an ordinary error takes its place. */
  abandon(): void {
    clearTimeout(this.headTimer);
    this.over = true;
  }

  left(): void {
    if (this.over) return;
    this.abandon();
    if (this.opened) this.metrics.onStreamClose('direct', 'disconnected');
  }

  private open(): void {
    if (this.opened || this.over) return;
    clearTimeout(this.headTimer);
    this.opened = true;
    this.metrics.onStreamOpen('direct');
    this.sse.open(lines([deltaChunk(this.frame, { role: 'assistant', content: '' })]));
  }

  private flush(): void {
    if (this.backlog === '' || !this.sse.ready) return;
    const events = this.backlog;
    this.backlog = '';
    this.sse.send(events);
  }

  private end(events: string, end: StreamEnd): void {
    this.over = true;
    this.metrics.onStreamClose('direct', end);
    this.sse.end(this.backlog + events);
  }

  /** There is no run to come back to: the upstream call ends with its client. */
  private tooSlow(): void {
    if (this.over) return;
    this.over = true;
    this.metrics.onStreamClose('direct', 'slow');
    this.sse.cut();
    this.drop();
  }
}

const lines = (chunks: readonly ChatCompletionChunk[]): string => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
