import type { Failure } from '@conclave/contracts';
import type { JsonObject } from '@conclave/ports';
import type { Response } from 'express';
import type { GatewayLimits, GatewayMetrics, StreamEnd } from '../options.js';
import { Sse } from '../stream/sse.js';
import type { AnswerShape, AnswerWriter } from './answer-shape.js';
import type { ChunkFrame } from './chat-shapes.js';

/** Characters buffered for a client that reads more slowly than its model writes. */
const longestBacklog = 1_000_000;

/**
 * The stream of a direct call: the model's chunks under our id and the requested model name. The head waits briefly for the first
 * chunk, so that an immediate refusal by the provider is an ordinary HTTP error; then heartbeats begin.
 */
export class DirectStream {
  /** Set once the head is sent. */
  private sse: Sse | null = null;
  private readonly headTimer: NodeJS.Timeout;
  private readonly began = performance.now();
  private answering = false;
  private backlog = '';
  private over = false;
  private readonly writer: AnswerWriter;
  opened = false;

  /** `headMs`: the wait for the first chunk. */
  constructor(
    private readonly response: Response,
    private readonly frame: ChunkFrame,
    private readonly shape: AnswerShape,
    private readonly limits: GatewayLimits,
    private readonly metrics: GatewayMetrics,
    private readonly drop: () => void,
    headMs = limits.directHeadMs,
  ) {
    this.writer = shape.writer(frame);
    this.headTimer = setTimeout(() => this.open(), headMs);
  }

  take(chunk: JsonObject): void {
    if (this.over) return;
    this.open();
    const { id, model, created } = this.frame;
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    // Clients fail on chunks without these fields.
    const shown = { object: 'chat.completion.chunk', created, ...chunk, id, model, choices };
    this.backlog += this.writer.chunk(shown);
    if (!this.answering && choices.some(hasContent)) {
      this.answering = true;
      this.metrics.onFirstContent('direct', performance.now() - this.began);
    }
    if (this.backlog.length > longestBacklog) return this.tooSlow();
    this.flush();
  }

  finish(): void {
    if (this.over) return;
    this.open();
    this.end(this.writer.done(), 'finished');
  }

  fail(failure: Failure): void {
    if (this.over) return;
    this.end(this.writer.fail(failure), failure.code === 'SHUTTING_DOWN' ? 'shutdown' : 'failed');
  }

  /** Called when the head was never sent; the caller sends an ordinary error instead. */
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
    const { heartbeat } = this.shape;
    this.sse = new Sse(this.response, this.limits, { drained: () => this.flush(), tooSlow: () => this.tooSlow(), heartbeat });
    this.sse.open(this.writer.open());
  }

  private flush(): void {
    if (this.backlog === '' || !this.sse?.ready) return;
    const events = this.backlog;
    this.backlog = '';
    this.sse.send(events);
  }

  private end(events: string, end: StreamEnd): void {
    this.over = true;
    this.metrics.onStreamClose('direct', end);
    this.sse?.end(this.backlog + events);
  }

  /** A direct call has no run to resume: the upstream call ends when its client disconnects. */
  private tooSlow(): void {
    if (this.over) return;
    this.over = true;
    this.metrics.onStreamClose('direct', 'slow');
    this.sse?.cut();
    this.drop();
  }
}

const hasContent = (choice: unknown): boolean => Boolean((choice as { delta?: { content?: unknown } } | null)?.delta?.content);
