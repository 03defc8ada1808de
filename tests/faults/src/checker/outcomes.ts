import type { Finding } from '../evidence/evidence.js';
import { findingOf, push, recordName, type Case } from './case.js';
import type { DrivenRun } from './driven-run.js';
import { acceptedRuns, terminalEvents } from './terminal-events.js';

const finding = findingOf('one-effective-outcome');

/**
 * Check 3: every dispatched task has an outcome, and the run accepted exactly one. To find out, the recorded steps of the run are
 * driven through the engine: versions are dense, each has one record, no input is in two of them.
 */
export function checkOutcomes(of: Case): readonly Finding[] {
  const findings = [...[...of.runs().values()].flatMap(stepFindings), ...(of.bounds.soundRecords ? blamedRecords(of) : [])];
  const answered = new Set(of.events('ResultReady').map(({ data }) => data.taskId));
  const shown = settledInStreams(of);
  const accepted = acceptedRuns({ evidence: of.evidence, events: (type) => of.events(type) });
  const ended = terminalEvents(of);
  // Check 1 reports that the outcome of such a run is unknown.
  const mayComeYet = (runId: string): boolean => !ended.has(runId) && !of.wasWaitedFor(accepted.get(runId) ?? Infinity);
  for (const [id, runId] of new Map(of.events('TaskDispatched').map((task) => [task.id, task.runId]))) {
    const run = of.runs().get(runId);
    const times = run?.settled.get(id) ?? 0;
    if (times > 1) findings.push(finding(id, `Its run accepted ${times} outcomes of it.`));
    else if ((shown.get(id)?.size ?? 0) > 1)
      findings.push(finding(id, `The stream of its run shows ${shown.get(id)!.size} outcomes of it.`));
    else if (times === 0 && mayComeYet(runId)) continue;
    else if (times === 0 && !answered.has(id)) findings.push(finding(id, 'It was dispatched and has no outcome.'));
    else if (times === 0 && run?.whole) findings.push(finding(id, 'It has a result, but its run accepted no outcome of it.'));
    if (!run || (run.whole && ![...run.outputs.values()].some((ids) => ids.includes(id))))
      findings.push(finding(id, 'It was dispatched by no recorded step.'));
  }
  return findings;
}

/** Dead letters of records without a fault: the outcome of their handlers is lost, whatever replaces it. */
const blamedRecords = (of: Case): readonly Finding[] =>
  [...of.letters.keys()].map((letter) => {
    const record = of.records.find((one) => letter.endsWith(`:${recordName(one)}`));
    return finding(record?.event?.id ?? letter, `${letter} was set aside as a dead letter although nothing was wrong with it.`);
  });

function stepFindings(run: DrivenRun): readonly Finding[] {
  const { runId, conflicts, gaps, repeated, refused } = run;
  return [
    ...conflicts.map((version) =>
      finding(`${runId}/step/${version}`, 'Two different steps made this version of the run: one of them is lost.'),
    ),
    ...gaps.map(([from, to]) =>
      finding(
        `${runId}/step/${from}`,
        from === to ? 'The log contains later steps, but not this one.' : `The log contains later steps, but not steps ${from} to ${to}.`,
      ),
    ),
    ...repeated.map(({ id, versions }) => finding(id, `It was applied more than once, in the steps ${versions.join(', ')}.`)),
    ...(refused ? [finding(`${runId}/step/${refused.version}`, `It cannot have happened: ${refused.sentence}.`)] : []),
  ];
}

/** Ids of the stream entries in which each task was settled. */
function settledInStreams(of: Case): ReadonlyMap<string, ReadonlySet<number>> {
  const entries = new Map<string, number[]>();
  for (const viewing of of.evidence.viewings)
    for (const entry of viewing.entries) if (entry.kind === 'task.settled') push(entries, entry.taskId, entry.id);
  return new Map([...entries].map(([id, ids]) => [id, new Set(ids)]));
}
