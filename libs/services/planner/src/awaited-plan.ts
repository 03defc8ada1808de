import type { Event } from '@conclave/contracts';
import type { Calls, CallCheck, WorkState } from '@conclave/calls';
import type { RunState } from '@conclave/loop';

export interface AwaitedParts {
  readonly state: Pick<WorkState, 'journal' | 'runs'>;
  readonly cancels: Calls['cancels'];
}

/**
 * Whether the engine still awaits a plan. The first call of the plan learns this from the journal's reply, without another request. For a
 * plan without a new call, this is checked before the plan is made.
 */
export class AwaitedPlan implements CallCheck {
  private known = false;

  /** `owner` is that of the plan's calls. `now` and `timeoutMs` determine when a plan for a gap is no longer awaited. */
  constructor(
    private readonly parts: AwaitedParts,
    private readonly event: Event,
    private readonly owner: string,
    private readonly now: number,
    private readonly timeoutMs: number,
  ) {}

  get withState(): boolean {
    return !this.known && this.event.type === 'PlanRequested';
  }

  is(state: unknown): boolean {
    this.known ||= this.event.type === 'GapDetected' ? this.now < this.event.time + this.timeoutMs : awaitsFirst(state as Awaiting | null);
    return this.known;
  }

  /**
   * Whether the engine's own state has stopped waiting for the plan. False for a run that was only flagged: its cancel has not reached the
   * engine, which would act on whatever came as the plan.
   */
  async isGivenUp(epoch: number): Promise<boolean> {
    const run = await this.parts.state.runs.read<Awaiting>(this.event.runId);
    return run !== null && run.state.awaiting?.epoch !== epoch;
  }

  /** Also true for a plan that was begun: its cost must be known. False for a run that is cancelled or over. */
  async confirmed(): Promise<boolean> {
    const { runId } = this.event;
    const { state, cancels } = this.parts;
    if (this.known || (await state.journal.started(this.owner))) return true;
    if (await cancels.isCancelled([runId])) return false;
    return this.is(this.withState ? ((await state.runs.read<Awaiting>(runId))?.state ?? null) : null);
  }
}

type Awaiting = Pick<RunState, 'awaiting'>;

/**
 * The engine may receive the run after the planner does; once it is past planning, the first plan is no longer awaited. A paused run still
 * awaits its plan.
 */
const awaitsFirst = (state: Awaiting | null): boolean => state === null || state.awaiting?.epoch === 0;
