import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';

/** An open response that must end when the gateway stops. */
interface Open {
  readonly response: Response;
  readonly farewell: () => void;
}

/**
 * Requests that wait for a run. Distinguishes a client that disconnected from a connection that the gateway closed: only a close that a running
 * gateway sees before it ended the response is a disconnect.
 */
@Injectable()
export class Connections {
  private readonly open = new Set<Open>();
  private readonly pending = new Set<Promise<void>>();
  private stopping = false;

  constructor(@Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits) {}

  get shuttingDown(): boolean {
    return this.stopping;
  }
  get count(): number {
    return this.open.size;
  }

  /**
   * `left` is called once when the client disconnects before the response was ended, even if it has already disconnected.
   * Listens on the response, because the request closes as soon as its body was read.
   */
  watch(response: Response, left: () => void, farewell: () => void): void {
    const entry: Open = { response, farewell };
    this.open.add(entry);
    const closed = (): void => {
      this.open.delete(entry);
      if (!response.writableEnded && !this.stopping) left();
    };
    if (response.destroyed || response.closed) queueMicrotask(closed);
    else response.once('close', closed);
    if (this.stopping) farewell();
  }

  /** Adds work that shutdown waits for, such as reporting that a client left. It must not reject. */
  track(work: Promise<void>): void {
    this.pending.add(work);
    void work.finally(() => this.pending.delete(work));
  }

  /** Ends every stream with its last events and waits a bounded time until they are sent. */
  async shutdown(): Promise<void> {
    this.stopping = true;
    for (const entry of [...this.open]) entry.farewell();
    const deadline = Date.now() + this.limits.shutdownGraceMs;
    while ((this.open.size > 0 || this.pending.size > 0) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const { response } of this.open) response.destroy();
  }
}
