import type { AnyEvent, RunCompleted } from '@conclave/contracts';

/** From and to in milliseconds since 1970. */
export type Interval = readonly [from: number, to: number];

/** Milliseconds of a window that none of the intervals covers. */
export function uncovered([from, to]: Interval, intervals: readonly Interval[]): number {
  let free = 0;
  let reached = from;
  for (const [begins, ends] of [...intervals].sort(([a], [b]) => a - b)) {
    if (ends <= reached) continue;
    if (begins >= to) break;
    free += Math.max(0, begins - reached);
    reached = ends;
  }
  return free + Math.max(0, to - reached);
}

/** Open runs remembered, oldest forgotten first. */
const remembered = 2_000;

interface Worked {
  /** Epoch -> when its plan was requested. */
  readonly planAskedAt: Map<number, number>;
  /** Id of a plan or result -> when it was worked on, and the model calls it cost. */
  readonly work: Map<string, { readonly at: Interval; readonly calls: number }>;
}

/**
 * Measures the time in which no plan or task of a run was worked on, in the process that takes its steps. The work on a plan lasts from its
 * request to the plan; the work on a task lasts as long as its worker reports.
 */
export class RunOverheads {
  private readonly runs = new Map<string, Worked>();

  /** Notes an event that the engine received. */
  took(event: AnyEvent): void {
    const { runId, id, time } = event;
    if (event.type === 'PlanRequested') {
      this.runs.set(runId, { planAskedAt: new Map([[0, time]]), work: new Map() });
      if (this.runs.size > remembered) this.runs.delete(this.runs.keys().next().value!);
      return;
    }
    const run = this.runs.get(runId);
    if (!run) return;
    if (event.type === 'ResultReady') {
      const { durationMs, usage } = event.data;
      run.work.set(id, { at: [time - durationMs, time], calls: usage.calls });
    } else if (event.type === 'PlanCreated') {
      const { epoch, usage } = event.data;
      const askedAt = run.planAskedAt.get(epoch);
      if (askedAt !== undefined && usage.calls > 0) run.work.set(id, { at: [askedAt, time], calls: usage.calls });
    }
  }

  /** Notes an event that the engine returned. */
  gave(event: AnyEvent): void {
    if (event.type === 'GapDetected') this.runs.get(event.runId)?.planAskedAt.set(event.data.epoch + 1, event.time);
  }

  /** Returns milliseconds; null unless this process took every step with a model call. Forgets the run. */
  ended({ runId, data: { startedAt, completedAt, usage } }: RunCompleted): number | null {
    const run = this.runs.get(runId);
    this.runs.delete(runId);
    if (!run) return null;
    const work = [...run.work.values()];
    if (work.reduce((sum, { calls }) => sum + calls, 0) !== usage.calls) return null;
    return uncovered(
      [startedAt, completedAt],
      work.map(({ at }) => at),
    );
  }
}
