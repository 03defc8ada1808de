import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import type { Event, TaskDispatched } from '@conclave/contracts';
import { judgeName, runCapability } from '@conclave/loop';
import { EventPattern, type DeliveryContext } from '@conclave/platform';
import { RUN_STREAM, STATE, type DeadReason, type HandlerOutcome } from '@conclave/ports';
import { CALL_MAKER, deadTask, workOn, type Calls, type Capability, type ShownIn, type WorkState } from '@conclave/calls';
import { knownStrategy } from '@conclave/strategies';
import { type AcceptingState, beginChildRun } from './child-run.js';
import { judgeCapability } from './judge.capability.js';

/** The judge's half of the merger: its calls are tasks like any other, and so are child runs. */
@Controller()
export class JudgeHandler {
  constructor(
    @Inject(STATE) private readonly state: WorkState & AcceptingState,
    @Inject(CALL_MAKER) private readonly maker: Calls,
    @Inject(RUN_STREAM) private readonly stream: ShownIn,
  ) {}

  @EventPattern('TaskDispatched')
  onTask(@Payload() task: TaskDispatched, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    if (task.data.capability === runCapability) return beginChildRun(task, { state: this.state, cancels: this.maker.cancels });
    return workOn(task, {
      state: this.state,
      cancels: this.maker.cancels,
      source: 'merger',
      signal: context.signal,
      capability: this.capabilityOf(task),
      callsFirst: true,
    });
  }

  /** The judge of the task's strategy; null if this version does not have it. */
  private capabilityOf({ data: { strategy, capability } }: TaskDispatched): Capability | null {
    const judge = knownStrategy(strategy)?.judges[judgeName(capability)];
    return judge ? judgeCapability(this.maker, this.stream, judge.question) : null;
  }

  @EventPattern('dead:TaskDispatched')
  onDead(@Payload() dead: { event: TaskDispatched; reason: DeadReason }): readonly Event[] {
    return [deadTask(dead.event, 'merger', dead.reason)];
  }
}
