import pRetry from 'p-retry';
import { Inject, Injectable } from '@nestjs/common';
import { type Caller, CommandIssued, commandId, type CommandRequest, makeEvent } from '@conclave/contracts';
import type { Command } from '@conclave/loop';
import { traceparentIn } from '@conclave/platform';
import { EVENT_LOG, type EventLog, STATE, type StateStore, stopHint } from '@conclave/ports';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';

/**
 * How a client comes back to a run that it left: by its Idempotency-Key or in a retry that has already started; by a retry that it may or may not
 * make, as SDKs do after a time-out but not after an abort; or not at all.
 */
export type WayBack = 'certain' | 'possible' | 'none';

/** Delays before reporting again that a client disconnected while our stores are unavailable: 0.1, 0.4, 1.6, 6.4 and 25.6 s. */
const tellAgain = { retries: 5, minTimeout: 100, factor: 4, unref: true } as const;

/** Sends commands to the engine: first the flag that workers read, then the ordered event. */
@Injectable()
export class Commands {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(EVENT_LOG) private readonly log: EventLog,
  ) {}

  /** Returns the command's number. Commands with equal keys take effect once. Throws STORE_*, LOG_UNAVAILABLE: send it again. */
  async issue(runId: string, actor: string, command: Command, key: string | null = null): Promise<number> {
    const seq = await this.state.runs.nextCommandSeq(runId);
    const now = await this.state.now();
    const id = commandId(runId, seq);
    const traceparent = traceparentIn(await this.state.runs.header(runId), { id, runId });
    const address = { id, runId, source: 'gateway', time: now, traceparent } as const;
    const event = makeEvent(CommandIssued, address, { seq, actor, issuedAt: now, ...(key === null ? {} : { key }), command });
    // The flag first: workers stop immediately, and a run that learns of the flag from a worker before this event arrives waits for the event.
    if (command.name === 'cancel') await this.state.runs.cancel(runId);
    await this.log.publish([event]);
    if (command.name === 'cancel')
      this.options.probe?.note({ actor: 'gateway', op: 'run', phase: 'cancelled', id: runId, data: { reason: command.reason } });
    return seq;
  }

  /**
   * Reports that a client left its run. The last client parks the run, and cancels it at once if it cannot come back: if this process dies in
   * between, the parked run is cancelled when its time is over. Calls in progress of a parked run continue to their end, unless the client
   * can come back only by a retry. Never throws: no client is left to receive an error.
   */
  async leave(runId: string, clientId: string, caller: Caller, wayBack: WayBack): Promise<void> {
    this.options.probe?.note({ actor: 'gateway', op: 'client', phase: 'left', id: runId });
    await this.retry(runId, async () => {
      if ((await this.state.runs.leave(runId, clientId)) > 0) return;
      if (wayBack !== 'none') {
        if (wayBack === 'possible') await this.state.hints.publish('cancel', stopHint(runId));
        this.options.metrics.onParked();
        return;
      }
      await this.issue(runId, caller.actor, { name: 'cancel', reason: 'the client disconnected' });
      this.options.metrics.onCancel('disconnect');
    });
  }

  /** The gateway ended a client's stream: the client no longer counts, and the run continues. */
  async release(runId: string, clientId: string): Promise<void> {
    await this.retry(runId, async () => {
      await this.state.runs.detach(runId, clientId);
    });
  }

  private async retry(runId: string, tell: () => Promise<void>): Promise<void> {
    await pRetry(tell, {
      ...tellAgain,
      onFailedAttempt: ({ error, retriesLeft }) =>
        this.options.logger.warn('a client disconnected and its cancel could not be stored', {
          run: runId,
          error,
          triesAgain: retriesLeft > 0,
        }),
    }).catch(() => undefined); // decided: each failure is logged above, and no caller is left to receive it
  }
}

/** Converts a client's command to the engine's form. */
export function commandOf(request: CommandRequest): Command {
  switch (request.command) {
    case 'cancel':
      return { name: 'cancel', reason: request.reason ?? 'cancelled by command' };
    case 'steer':
    case 'add_context':
    case 'answer':
      return { name: request.command, text: request.text };
    case 'override_step':
      return { name: 'override_step', skill: request.skill, input: request.input };
    case 'pause':
    case 'resume':
      return { name: request.command };
  }
}
