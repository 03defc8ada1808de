import type { CallRecorded, Event, StepRecorded } from '@conclave/contracts';
import type { JournalCall } from './state.js';

/** Data that a store keeps only until it is on the log. */
interface Forgettable {
  /** Steps of the engine, whose outputs are kept: their run and the event that they applied. */
  readonly steps: readonly { readonly runId: string; readonly eventId: string }[];
  /** Calls, whose outcomes are kept. */
  readonly calls: readonly JournalCall[];
}

/**
 * The steps and calls whose records are among the outputs of a delivery. Calls of the knowledge graph are left out: a rebuilt graph reads
 * the ends of runs again, and must not pay for its earlier calls a second time.
 */
export function forgettable(outputs: readonly Event[]): Forgettable {
  const steps: Forgettable['steps'][number][] = [];
  const calls: JournalCall[] = [];
  for (const output of outputs) {
    const { runId } = output;
    if (output.type === 'StepRecorded') steps.push({ runId, eventId: (output as StepRecorded).data.input.id });
    if (output.type !== 'CallRecorded' || output.source === 'graph-ingest') continue;
    const { step, attempt } = (output as CallRecorded).data;
    calls.push({ runId, step, attempt });
  }
  return { steps, calls };
}
