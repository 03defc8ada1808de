import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import type { Event, TaskDispatched } from '@conclave/contracts';
import { EventPattern, type DeliveryContext } from '@conclave/platform';
import { RUN_STREAM, STATE, type DeadReason, type HandlerOutcome } from '@conclave/ports';
import { CALL_MAKER, deadTask, workOn, type Calls, type Capability, type ShownIn, type WorkState } from '@conclave/calls';
import { judgeCapabilities } from './judges.js';

/** The judge's half of the merger: its calls are tasks like any other. */
@Controller()
export class JudgeHandler {
  private readonly capabilities: ReadonlyMap<string, Capability>;

  constructor(
    @Inject(STATE) private readonly state: WorkState,
    @Inject(CALL_MAKER) private readonly maker: Calls,
    @Inject(RUN_STREAM) stream: ShownIn,
  ) {
    this.capabilities = judgeCapabilities(maker, stream);
  }

  @EventPattern('TaskDispatched')
  onTask(@Payload() task: TaskDispatched, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    return workOn(task, {
      state: this.state,
      cancels: this.maker.cancels,
      source: 'merger',
      signal: context.signal,
      capability: this.capabilities.get(task.data.capability) ?? null,
      callsFirst: true,
    });
  }

  @EventPattern('dead:TaskDispatched')
  onDead(@Payload() dead: { event: TaskDispatched; reason: DeadReason }): readonly Event[] {
    return [deadTask(dead.event, 'merger', dead.reason)];
  }
}
