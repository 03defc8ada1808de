import { factSentence, type StepRecorded } from '@conclave/contracts';
import { restoredFacts } from '@conclave/loop';
import { short } from '@conclave/platform';
import type { EventLog } from '@conclave/ports';

/** Every fact of a run in order, one line each: time since the first step, number of the step, sentence. */
export async function factsOf(log: Pick<EventLog, 'read'>, runId: string): Promise<readonly string[]> {
  const steps = new Map<number, StepRecorded['data']>();
  for await (const { event } of log.read('audit', runId))
    if (event?.type === 'StepRecorded' && event.runId === runId)
      steps.set((event as StepRecorded).data.version, (event as StepRecorded).data);
  const ordered = [...steps.values()].sort((a, b) => a.version - b.version);
  const start = ordered[0]?.now ?? 0;
  return ordered.flatMap((step) =>
    sentencesOf(step).map(
      (sentence) =>
        `${`+${((step.now - start) / 1000).toFixed(3)} s`.padStart(12)}  step ${String(step.version).padEnd(4)}  ${short(sentence, 400)}`,
    ),
  );
}

function sentencesOf({ input, request, facts }: StepRecorded['data']): readonly string[] {
  try {
    return restoredFacts(facts, { input: input.data, request: request?.data }).map(factSentence);
  } catch (error) {
    return [`Its ${facts.length} facts cannot be read by this version: ${error instanceof Error ? error.message : String(error)}`];
  }
}
