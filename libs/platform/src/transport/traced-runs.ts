import type { Event } from '@conclave/contracts';
import type { Committed, Runs, Step, StepTime } from '@conclave/ports';
import { overriding } from '../process/overriding.js';
import { traced } from '../tracing/trace-context.js';

/**
 * Runs whose commit adds the trace of its input to the outputs before storing them: they may be on the log as soon as the step is written
 * (embedded mode), or be published from the store after a death.
 */
export const tracedRuns = (runs: Runs): Runs =>
  overriding(runs, {
    commit: <S>(event: Event, step: (current: S | null, at: StepTime) => Step<S> | null): Promise<Committed<S>> =>
      runs.commit<S>(event, (current, at) => {
        const made = step(current, at);
        return made && { ...made, outputs: traced(event, made.outputs) };
      }),
  });
