import type { StepRecorded } from '@conclave/contracts';
import { Replay, type Replayed, type StepTrace } from '@conclave/loop';
import type { EventLog } from '@conclave/ports';
import { stateHash } from '@conclave/service-merger';
import { strategyOf } from '@conclave/strategies';

/** What came of one recorded run. */
export interface ReplayedRun {
  readonly runId: string;
  readonly result: Replayed;
  /** Ids of its audit records that cannot be decoded: a step may be among them. */
  readonly undecodable: readonly string[];
}

/**
 * Replays one run of the audit topic, or all of them for null, in the order they begin there. Calls no model and keeps only the
 * states of open runs. `strangers` counts records that cannot be decoded and name no run.
 */
export async function replayRecorded(
  log: Pick<EventLog, 'read'>,
  runId: string | null,
): Promise<{ readonly runs: readonly ReplayedRun[]; readonly strangers: number }> {
  const runs = new Map<string, { replay: Replay; undecodable: string[] }>();
  const runOf = (id: string) => {
    const run = runs.get(id) ?? { replay: new Replay(id, { strategyOf, stateHash }), undecodable: [] };
    runs.set(id, run);
    return run;
  };
  let strangers = 0;
  for await (const { event, headers, partition, offset } of log.read('audit')) {
    const id = event?.runId ?? headers['ce_runid'];
    if (id === undefined) strangers += 1;
    if (id === undefined || (runId !== null && id !== runId)) continue;
    if (event?.type === 'StepRecorded') runOf(id).replay.take((event as StepRecorded).data);
    else if (event === null && headers['ce_type'] !== 'CallRecorded')
      runOf(id).undecodable.push(headers['ce_id'] ?? `audit/${partition}/${offset}`);
  }
  return {
    runs: [...runs].map(([id, { replay, undecodable }]) => ({ runId: id, result: replay.result(), undecodable })),
    strangers,
  };
}

/** Whether every step of the recording could be replayed and decided the same. */
export const sameAsRecorded = ({ result, undecodable }: ReplayedRun): boolean => result.kind === 'same' && undecodable.length === 0;

/** The verdict on one run, for people. */
export function replayedText({ runId, result, undecodable }: ReplayedRun): string {
  const lines = [
    ...verdictLines(result).map((line, index) => (index === 0 ? `${runId}: ${line}` : `  ${line}`)),
    ...undecodable.map((id) => `  cannot be decoded: ${id}`),
  ];
  return `${lines.join('\n')}\n`;
}

function verdictLines(result: Replayed): readonly string[] {
  const before = `after ${countOf(result.steps)} that ${result.steps === 1 ? 'is' : 'are'} the same`;
  switch (result.kind) {
    case 'same':
      return [`same decisions, same state: ${countOf(result.steps)}${result.ended ? '' : ', the run has not ended'}`];
    case 'missing':
      return [`the recording is not whole: ${result.gaps.map(gapText).join(', ')} missing, ${before}`];
    case 'conflicting':
      return [`two records of step ${result.version} contradict each other, ${before}`];
    case 'refused':
      return [`step ${result.version} cannot be taken today, ${before}`, inputText(result.input), `now       ${result.sentence}`];
    case 'different':
      return [
        `step ${result.version} differs in ${result.differs.join(', ')}, ${before}`,
        inputText(result.input),
        ...traceLines('recorded', result.recorded),
        ...(result.now ? traceLines('now', result.now) : ['now       no step: the input changes nothing']),
      ];
  }
}

const countOf = (steps: number): string => `${steps} ${steps === 1 ? 'step' : 'steps'}`;
const gapText = ([from, to]: readonly [number, number]): string => (from === to ? `step ${from}` : `steps ${from} to ${to}`);
const inputText = ({ id, type }: { readonly id: string; readonly type: string }): string => `input     ${type} ${id}`;

const traceLines = (label: string, { rule, sentence, outputs, stateHash: state }: StepTrace): readonly string[] => [
  `${label.padEnd(9)} rule    ${rule === null ? 'none' : `${rule} ${sentence ?? ''}`}`,
  `${''.padEnd(9)} outputs ${outputs.map(({ id, type }) => `${type} ${id}`).join(', ') || 'none'}`,
  `${''.padEnd(9)} state   ${state}`,
];
