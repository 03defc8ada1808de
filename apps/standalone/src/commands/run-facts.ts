import type { RunFactList, StepRecorded } from '@conclave/contracts';
import { toldFacts } from '@conclave/loop';
import { short } from '@conclave/platform';
import type { EventLog } from '@conclave/ports';

export type ToldFact = RunFactList['data'][number];

/** Every fact of a run on the log, in order. */
export async function factsOnLog(log: Pick<EventLog, 'read'>, runId: string): Promise<readonly ToldFact[]> {
  const steps = new Map<number, StepRecorded['data']>();
  for await (const { event } of log.read('audit', { keys: [runId] }))
    if (event?.type === 'StepRecorded' && event.runId === runId)
      steps.set((event as StepRecorded).data.version, (event as StepRecorded).data);
  const ordered = [...steps.values()].sort((a, b) => a.version - b.version);
  return ordered.flatMap((step) => toldFacts(step).map((fact) => ({ step: step.version, at: step.now, ...fact })));
}

/** One line for each fact: time since the first step, number of the step, and sentence. */
export const factLines = (facts: readonly ToldFact[]): readonly string[] =>
  facts.map(
    ({ step, at, sentence }) =>
      `${`+${((at - facts[0]!.at) / 1000).toFixed(3)} s`.padStart(12)}  step ${String(step).padEnd(4)}  ${short(sentence, 400)}`,
  );
