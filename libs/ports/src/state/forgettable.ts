import type { CallRecorded, Event, StepRecorded } from '@conclave/contracts';
import type { JournalCall } from './state.js';

/** What a store keeps only until the log has it. */
interface Forgettable {
  /** Steps of the engine, whose outputs are kept: their run and the event that they applied. */
  readonly steps: readonly { readonly runId: string; readonly eventId: string }[];
  /** Calls, whose outcomes are kept. */
  readonly calls: readonly JournalCall[];
}

/**
 * Names the step and the calls behind what a delivery has put out: each has its record among it. Calls of the knowledge graph are left out.
 * A graph that is built anew reads the ends of runs again, and must not pay for what it has asked before.
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
