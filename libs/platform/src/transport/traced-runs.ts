import type { Event } from '@conclave/contracts';
import type { Committed, Runs, Step, StepTime } from '@conclave/ports';
import { overriding } from '../process/overriding.js';
import { traced } from '../tracing/trace-context.js';

/**
 * Runs whose commits add the trace of the input to the outputs before they store them. Outputs may be on the log as soon as the step is
 * written (embedded mode), or may be published from the store after the death of a process.
 */
export const tracedRuns = (runs: Runs): Runs =>
  overriding(runs, {
    commit: <S>(event: Event, step: (current: S | null, at: StepTime) => Step<S> | null): Promise<Committed<S>> =>
      runs.commit<S>(event, (current, at) => {
        const made = step(current, at);
        return made && { ...made, outputs: traced(event, made.outputs) };
      }),
  });
