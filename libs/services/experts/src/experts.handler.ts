import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import type { Event, TaskDispatched } from '@conclave/contracts';
import { EventPattern, type DeliveryContext } from '@conclave/platform';
import { RUN_STREAM, SEARCH, STATE, type DeadReason, type HandlerOutcome, type Search } from '@conclave/ports';
import { CALL_MAKER, deadTask, workOn, type Calls, type Capability, type ShownIn, type WorkState } from '@conclave/service-calls';
import { expertCapability } from './expert.capability.js';
import { researchCapability } from './research.capability.js';

/** Serves the task classes of the experts: models and evidence. Adding a capability is one entry here. */
@Controller()
export class ExpertsHandler {
  private readonly capabilities: ReadonlyMap<string, Capability>;

  constructor(
    @Inject(STATE) private readonly state: WorkState,
    @Inject(CALL_MAKER) private readonly maker: Calls,
    @Inject(RUN_STREAM) stream: ShownIn,
    @Inject(SEARCH) search: Search | null,
  ) {
    this.capabilities = new Map<string, Capability>([
      ['expert', expertCapability(maker, stream)],
      ...(search ? ([['research', researchCapability(maker, stream, search)]] as const) : []),
    ]);
  }

  @EventPattern('TaskDispatched')
  onTask(@Payload() task: TaskDispatched, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    const capability = this.capabilities.get(task.data.capability.split('.')[0]!) ?? null;
    return workOn(task, { state: this.state, cancels: this.maker.cancels, source: 'experts', signal: context.signal, capability });
  }

  @EventPattern('dead:TaskDispatched')
  onDead(@Payload() dead: { event: TaskDispatched; reason: DeadReason }): readonly Event[] {
    return [deadTask(dead.event, 'experts', dead.reason)];
  }
}
