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
  return toldFacts([...steps.values()].sort((a, b) => a.version - b.version));
}

/** Characters of a line: an instruction, its call and what came of it. */
const longest = 800;

/** What a list of facts begins with. */
export function factHead(where: string, facts: readonly ToldFact[]): string {
  const left = facts.filter(({ quiet }) => quiet).length;
  const without = left === 0 ? '' : `, without ${left} that say nothing by themselves`;
  return `${where}: ${facts.length - left} facts${without}. 0/x1 is the task x1 of plan 0.`;
}

/** One line for each fact that says something by itself: time since the first step, number of the step, and sentence. */
export const factLines = (facts: readonly ToldFact[]): readonly string[] =>
  facts
    .filter(({ quiet }) => !quiet)
    .map(
      ({ step, at, sentence }) =>
        `${`+${((at - facts[0]!.at) / 1000).toFixed(3)} s`.padStart(12)}  step ${String(step).padEnd(4)}  ${short(sentence, longest)}`,
    );
