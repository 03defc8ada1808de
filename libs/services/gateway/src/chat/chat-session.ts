import { randomUUID } from 'node:crypto';
import { type Caller, Failure } from '@conclave/contracts';
import type { StateStore } from '@conclave/ports';
import type { Response } from 'express';
import { sendFailure } from '../http/failure-response.js';
import type { AcceptedRun } from '../runs/acceptance.js';
import type { Commands, WayBack } from '../runs/commands.js';
import type { Connections } from '../stream/connections.js';

/** What a session needs from the gateway. */
export interface SessionWorld {
  readonly state: StateStore;
  readonly commands: Commands;
  readonly connections: Connections;
}

/**
 * One client that waits for a run. It ends in exactly one way: `ended` by the gateway (answered, failed, too slow, shutting down) or `left` by the
 * client. When the last client leaves, the run is cancelled, or parked if the client can come back.
 */
export class ChatSession {
  readonly clientId = randomUUID();
  readonly began = performance.now();
  /** Called once when the client disconnects while the response is open. */
  onLeft: () => void = () => undefined;
  /** Ends the response because the gateway stops; before the head is sent, this is an ordinary error. */
  farewell: () => void;

  private phase: 'open' | 'left' | 'ended' = 'open';
  private run: AcceptedRun | null = null;
  private attaching: Promise<unknown> = Promise.resolve();
  private acceptance: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly world: SessionWorld,
    private readonly caller: Caller,
    response: Response,
    private readonly wayBack: WayBack,
  ) {
    this.farewell = () => {
      if (this.run && !response.headersSent) response.setHeader('x-run-id', this.run.runId);
      sendFailure(response, shuttingDown(this.run?.runId), 1);
      this.end('is parked');
    };
    world.connections.watch(
      response,
      () => this.left(),
      () => {
        if (this.phase === 'open') this.farewell();
      },
    );
  }

  get open(): boolean {
    return this.phase === 'open';
  }

  /**
   * Registers this client with the run, unless it need not wait for the run. Throws STORE_*; the client then leaves the run immediately.
   */
  async attach(run: AcceptedRun): Promise<void> {
    this.run = run;
    if (run.kept) return;
    this.attaching = this.world.state.runs.attach(run.runId, this.clientId);
    try {
      await this.attaching;
    } catch (error) {
      if (this.phase === 'open') this.left();
      throw error;
    }
  }

  /**
   * The gateway ends the response. `goes on`: the run continues without this client. `is parked`: the client stays attached to a gateway that no
   * longer exists, so the run waits until the client comes back and is cancelled if it does not.
   */
  end(run: 'is over' | 'goes on' | 'is parked'): void {
    if (this.phase !== 'open') return;
    this.phase = 'ended';
    if (run === 'goes on') this.afterAttaching((runId) => this.world.commands.release(runId, this.clientId));
    if (run === 'is parked') this.afterAttaching(() => Promise.resolve());
  }

  private left(): void {
    if (this.phase !== 'open') return;
    this.phase = 'left';
    this.onLeft();
    this.afterAttaching((runId) => this.world.commands.leave(runId, this.clientId, this.caller, this.wayBack));
  }

  /** Waits for acceptance and attachment first: the client may disconnect before its run is known or stored. */
  private afterAttaching(tell: (runId: string) => Promise<void>): void {
    this.world.connections.track(this.settled().then((runId) => (runId === null ? undefined : tell(runId))));
  }

  /** Remembers the pending acceptance, so that a client that disconnects meanwhile is reported once its run is known. */
  accepting<T>(work: Promise<T>): Promise<T> {
    this.acceptance = work;
    return work;
  }

  private async settled(): Promise<string | null> {
    // The caller handles a failed acceptance; here only the run that it may have created matters.
    await this.acceptance.catch(() => undefined);
    await this.attaching.catch(() => undefined);
    return this.run?.runId ?? null;
  }
}

/** Tells the client where to follow the run, if there is one. */
export const shuttingDown = (runId: string | undefined): Failure =>
  new Failure(
    'SHUTTING_DOWN',
    runId === undefined
      ? 'Send the request again.'
      : `The run ${runId} waits for the same request with its Idempotency-Key, or with the header X-Stainless-Retry-Count: 1.`,
  );
