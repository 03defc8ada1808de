import type { Response } from 'express';
import type { GatewayLimits } from '../options.js';

/**
 * Headers of every stream: no proxy may buffer, transform or store it. Node sets `connection`: a client that sent `close` waits for
 * the end of the connection.
 */
export const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

export interface SseWatch {
  /** Heartbeat while there is nothing to send; a comment line if absent. */
  readonly heartbeat?: string | undefined;
  /** The client has caught up after falling behind. */
  readonly drained: () => void;
  /** The client left written bytes unread for too long; the connection is already cut. */
  readonly tooSlow: () => void;
}

/**
 * One stream of server-sent events. Writes only whole events, so a heartbeat never falls inside one. While the
 * client has not read what was written, `ready` is false and callers should write only what they already hold.
 */
export class Sse {
  private heartbeat: NodeJS.Timeout | null = null;
  private patience: NodeJS.Timeout | null = null;
  private behind = false;
  private done = false;

  constructor(
    private readonly response: Response,
    private readonly limits: Pick<GatewayLimits, 'firstHeartbeatMs' | 'heartbeatMs' | 'slowClientMs'>,
    private readonly watch: SseWatch,
  ) {
    response.once('close', () => this.stop());
    response.on('drain', () => this.caughtUp());
  }

  /** Sends the head and the first events together. */
  open(first: string): void {
    this.response.statusCode = 200;
    for (const [name, value] of Object.entries(sseHeaders)) this.response.setHeader(name, value);
    this.response.socket?.setNoDelay(true);
    this.response.flushHeaders();
    if (first !== '') this.send(first);
    this.beat(this.limits.firstHeartbeatMs);
  }

  get ready(): boolean {
    return !this.behind && !this.done;
  }

  /** Writes whole events. */
  send(events: string): void {
    if (this.done || this.response.destroyed) return;
    if (!this.response.write(events)) this.fellBehind();
    this.heartbeat?.refresh();
  }

  /** Writes the last events and ends the stream. */
  end(events: string): void {
    if (this.done) return;
    this.stop();
    this.response.end(events);
    // A client that does not read the last bytes is disconnected after the same time.
    const patience = setTimeout(() => this.response.destroy(), this.limits.slowClientMs);
    this.response.once('close', () => clearTimeout(patience));
  }

  /** Cuts the connection without an end, so that the client cannot mistake the part it received for the whole. */
  cut(): void {
    this.stop();
    this.response.destroy();
  }

  private beat(afterMs: number): void {
    this.heartbeat = setTimeout(() => {
      if (!this.behind && !this.response.write(this.watch.heartbeat ?? ': keep-alive\n\n')) this.fellBehind();
      this.beat(this.limits.heartbeatMs);
    }, afterMs);
  }

  private fellBehind(): void {
    if (this.behind) return;
    this.behind = true;
    this.patience = setTimeout(() => {
      this.stop();
      this.watch.tooSlow();
      this.response.destroy();
    }, this.limits.slowClientMs);
  }

  private caughtUp(): void {
    if (!this.behind || this.done) return;
    this.behind = false;
    if (this.patience) clearTimeout(this.patience);
    this.watch.drained();
  }

  private stop(): void {
    this.done = true;
    if (this.heartbeat) clearTimeout(this.heartbeat);
    if (this.patience) clearTimeout(this.patience);
  }
}
