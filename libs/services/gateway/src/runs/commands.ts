import { Inject, Injectable } from '@nestjs/common';
import { type Caller, CommandIssued, commandId, type CommandRequest, makeEvent } from '@conclave/contracts';
import { traceparentIn } from '@conclave/platform';
import { EVENT_LOG, type EventLog, STATE, type StateStore } from '@conclave/ports';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';

type Command = CommandIssued['data']['command'];

/** Milliseconds before each further try to tell that a client left, while our stores are away. */
const tellAgainMs = [100, 400, 1_600, 6_400, 25_600];

/** Brings what people want to the engine: the flag that workers look at first, then the event in its order. */
@Injectable()
export class Commands {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(EVENT_LOG) private readonly log: EventLog,
  ) {}

  /** Gives the command's number. Throws STORE_*, LOG_UNAVAILABLE: send it again. */
  async issue(runId: string, actor: string, command: Command): Promise<number> {
    const seq = await this.state.runs.nextCommandSeq(runId);
    const now = await this.state.now();
    const id = commandId(runId, seq);
    const traceparent = traceparentIn(await this.state.runs.header(runId), { id, runId });
    const address = { id, runId, source: 'gateway', time: now, traceparent } as const;
    const event = makeEvent(CommandIssued, address, { seq, actor, issuedAt: now, command });
    // The flag first, and nothing between it and the event: a worker that finds it may have its result at the engine soon, and the run is to
    // hear of the command before it ends.
    if (command.name === 'cancel') await this.state.runs.cancel(runId);
    await this.log.publish([event]);
    if (command.name === 'cancel')
      this.options.history?.write({ actor: 'gateway', op: 'run', phase: 'cancelled', id: runId, data: { reason: command.reason } });
    return seq;
  }

  /** A client left its run. The last one takes the run with it. Never throws: there is nobody left to tell. */
  async leave(runId: string, clientId: string, caller: Caller): Promise<void> {
    this.options.history?.write({ actor: 'gateway', op: 'client', phase: 'left', id: runId });
    await this.retry(runId, async () => {
      if ((await this.state.runs.detach(runId, clientId)) > 0) return;
      await this.issue(runId, caller.actor, { name: 'cancel', reason: 'the client disconnected' });
      this.options.metrics.onCancel('disconnect');
    });
  }

  /** A client's stream ended from our side: it is not counted any more, and the run goes on. */
  async release(runId: string, clientId: string): Promise<void> {
    await this.retry(runId, async () => {
      await this.state.runs.detach(runId, clientId);
    });
  }

  private async retry(runId: string, tell: () => Promise<void>): Promise<void> {
    for (const waitMs of [...tellAgainMs, null]) {
      try {
        return await tell();
      } catch (error) {
        this.options.logger.warn('a client left and the stores could not be told', { run: runId, error, triesAgain: waitMs !== null });
        if (waitMs === null) return;
        await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
      }
    }
  }
}

/** A command as clients write it, as the engine reads it. */
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
