import type { CallRecorded, StepRecorded } from '@conclave/contracts';
import type { EventLog } from '@conclave/ports';

/** Steps of a run by number, and its calls, as recorded in the audit; duplicate records count once. */
export async function recordedOf(
  log: Pick<EventLog, 'read'>,
  runId: string,
): Promise<{ readonly steps: readonly StepRecorded[]; readonly calls: readonly CallRecorded[] }> {
  const [steps, calls] = [new Map<number, StepRecorded>(), new Map<string, CallRecorded>()];
  for await (const { event } of log.read('audit', { keys: [runId] })) {
    if (event?.runId !== runId) continue;
    if (event.type === 'StepRecorded') steps.set((event as StepRecorded).data.version, event as StepRecorded);
    if (event.type === 'CallRecorded') calls.set(event.id, event as CallRecorded);
  }
  return { steps: [...steps.values()].sort((one, other) => one.data.version - other.data.version), calls: [...calls.values()] };
}
