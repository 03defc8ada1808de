import { hash } from 'node:crypto';
import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Failure, makeEvent, StepRecorded, type CommandIssued, type Event } from '@conclave/contracts';
import { canonicalJson, evolve, step, type Decision, type EngineInput, type RunState } from '@conclave/loop';
import { CRASH_POINTS, EventPattern, type CrashPoints } from '@conclave/platform';
import { defer, STATE, type DeadReason, type HandlerOutcome, type StateStore, type Step, type StepTime } from '@conclave/ports';
import { abortRun } from '@conclave/calls';
import { strategyOf } from '@conclave/strategies';

/** Milliseconds before a step is tried again whose run changed too often meanwhile. */
const conflictMs = 50;

/** The engine of runs: every input is one pure step, committed atomically under the event's id. */
@Controller()
export class EngineHandler {
  constructor(
    @Inject(STATE) private readonly state: StateStore,
    @Inject(CRASH_POINTS) private readonly crashPoints: CrashPoints,
  ) {}

  @EventPattern('PlanRequested')
  onRequest(@Payload() event: EngineInput): Promise<HandlerOutcome> {
    return this.take(event);
  }
  @EventPattern('PlanCreated')
  onPlan(@Payload() event: EngineInput): Promise<HandlerOutcome> {
    return this.take(event);
  }
  @EventPattern('ResultReady')
  onResult(@Payload() event: EngineInput): Promise<HandlerOutcome> {
    return this.take(event);
  }
  @EventPattern('TimerFired')
  onTimer(@Payload() event: EngineInput): Promise<HandlerOutcome> {
    return this.take(event);
  }
  @EventPattern('CommandIssued')
  async onCommand(@Payload() event: CommandIssued): Promise<HandlerOutcome> {
    return this.take(event, event.data.command.name === 'abort' ? await this.accepted(event.runId) : null);
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

  /** A command that is a dead letter ends its run too; an abort that cannot be applied is not tried by another abort. */
  @EventPattern('dead:CommandIssued')
  async onDeadCommand(@Payload() dead: { event: CommandIssued; reason: DeadReason }): Promise<readonly Event[]> {
    return dead.event.data.command.name === 'abort' ? [] : abortRun(dead.event, this.state, dead.reason);
  }

  /** What an abort ends although its PlanRequested was never applied: the run as its header says it. */
  private async accepted(runId: string): Promise<EngineInput | null> {
    return (await this.state.runs.header(runId)) as EngineInput | null;
  }

  /**
   * A command may reach a run whose gateway died before it published it. From now on the run has a state, so the sweep takes it for
   * published: its request goes out with the command.
   */
  private async unpublished(runId: string): Promise<readonly Event[]> {
    const header = await this.state.runs.header(runId);
    return header ? [header] : [];
  }

  private async take(event: EngineInput, request: EngineInput | null = null): Promise<HandlerOutcome> {
    try {
      const committed = await this.state.runs.commit<RunState>(event, (current, at) => {
        const unapplied = current === null || current.phase === 'unborn' ? request : null;
        const decision = step(unapplied ? evolve(current, unapplied) : current, event, at.now, strategyOf);
        this.crashPoints.reached('merger', 'engine-decided', event.id);
        return decision && storable(event, unapplied, decision, at);
      });
      this.crashPoints.reached('merger', 'engine-committed', event.id);
      return event.type === 'CommandIssued' && committed.state?.phase === 'unborn'
        ? [...committed.outputs, ...(await this.unpublished(event.runId))]
        : committed.outputs;
    } catch (error) {
      // Many at once want the same run: no fault of this record, which would end the run as a dead letter.
      if (error instanceof Failure && error.code === 'COMMIT_CONFLICT') return defer(conflictMs);
      throw error;
    }
  }
}

interface Dead {
  readonly event: Event;
  readonly reason: DeadReason;
}

/** A decision as the store keeps it, its audit record among the outputs. */
function storable(event: EngineInput, request: EngineInput | null, decision: Decision, at: StepTime): Step<RunState> {
  const { next, outputs } = decision;
  const version = at.version + 1;
  const record = makeEvent(
    StepRecorded,
    { id: `${next.runId}/step/${version}`, runId: next.runId, source: 'merger', time: at.now },
    {
      version,
      input: inputOf(event),
      ...(request ? { request: inputOf(request) } : {}),
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

const inputOf = ({ id, type, time, data }: EngineInput) => ({ id, type, time, data });

/** SHA-256 of the canonical JSON of a state, first 32 hex digits. */
export const stateHash = (state: RunState): string => hash('sha256', canonicalJson(state)).slice(0, 32);
