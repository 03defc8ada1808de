import { createHash } from 'node:crypto';
import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { makeEvent, StepRecorded, type Event } from '@conclave/contracts';
import { step, type Decision, type EngineInput, type RunState } from '@conclave/loop';
import { CRASH_POINTS, EventPattern, type CrashPoints } from '@conclave/platform';
import { STATE, type DeadReason, type StateStore, type Step, type StepTime } from '@conclave/ports';
import { abortRun } from '@conclave/service-calls';
import { strategyOf } from '@conclave/strategies';
import { canonicalJson } from './canonical-json.js';

/** The engine of runs: every input is one pure step, committed atomically under the event's id. */
@Controller()
export class EngineHandler {
  constructor(
    @Inject(STATE) private readonly state: StateStore,
    @Inject(CRASH_POINTS) private readonly crashPoints: CrashPoints,
  ) {}

  @EventPattern('PlanRequested')
  onRequest(@Payload() event: EngineInput): Promise<readonly Event[]> {
    return this.take(event);
  }
  @EventPattern('PlanCreated')
  onPlan(@Payload() event: EngineInput): Promise<readonly Event[]> {
    return this.take(event);
  }
  @EventPattern('ResultReady')
  onResult(@Payload() event: EngineInput): Promise<readonly Event[]> {
    return this.take(event);
  }
  @EventPattern('TimerFired')
  onTimer(@Payload() event: EngineInput): Promise<readonly Event[]> {
    return this.take(event);
  }
  @EventPattern('CommandIssued')
  onCommand(@Payload() event: EngineInput): Promise<readonly Event[]> {
    return this.take(event);
  }

  @EventPattern('dead:PlanRequested')
  onDeadRequest(@Payload() dead: Dead): Promise<readonly Event[]> {
    return abortRun(dead.event, this.state, dead.reason);
  }
  @EventPattern('dead:PlanCreated')
  onDeadPlan(@Payload() dead: Dead): Promise<readonly Event[]> {
    return abortRun(dead.event, this.state, dead.reason);
  }
  @EventPattern('dead:ResultReady')
  onDeadResult(@Payload() dead: Dead): Promise<readonly Event[]> {
    return abortRun(dead.event, this.state, dead.reason);
  }
  @EventPattern('dead:TimerFired')
  onDeadTimer(@Payload() dead: Dead): Promise<readonly Event[]> {
    return abortRun(dead.event, this.state, dead.reason);
  }

  private async take(event: EngineInput): Promise<readonly Event[]> {
    const committed = await this.state.runs.commit<RunState>(event, (current, at) => {
      const decision = step(current, event, at.now, strategyOf);
      return decision && storable(event, decision, at);
    });
    this.crashPoints.reached('merger', 'engine-committed', event.id);
    return committed.outputs;
  }
}

interface Dead {
  readonly event: Event;
  readonly reason: DeadReason;
}

/** A decision as the store keeps it, its audit record among the outputs. */
function storable(event: EngineInput, decision: Decision, at: StepTime): Step<RunState> {
  const { next, outputs } = decision;
  const version = at.version + 1;
  const record = makeEvent(
    StepRecorded,
    { id: `${next.runId}/step/${version}`, runId: next.runId, source: 'merger', time: at.now },
    {
      version,
      input: { id: event.id, type: event.type, data: event.data },
      now: at.now,
      rule: decision.rule?.id ?? null,
      ruleSentence: decision.rule?.sentence ?? null,
      outputs: outputs.map(({ id, type }) => ({ id, type })),
      stateHash: stateHash(next),
    },
  );
  return {
    next,
    outputs: [...outputs, record],
    entries: decision.entries,
    arm: decision.arm,
    disarm: decision.disarm,
    cancels: decision.cancels,
    terminal: next.phase === 'done',
    status: next.phase === 'done' ? (next.ending?.outcome ?? 'done') : next.phase,
  };
}

/** SHA-256 of the canonical JSON of a state, first 32 hex digits. */
export const stateHash = (state: RunState): string => createHash('sha256').update(canonicalJson(state)).digest('hex').slice(0, 32);
