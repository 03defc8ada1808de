import type { Draft, EarlierResult, PlannedTask } from '@conclave/contracts';
import { isExpert, tasksOf } from '@conclave/loop';
import { bounded } from '../prompts/quoting.js';
import { numbered } from '../replies/citations.js';
import { known, sourced } from './context.js';
import { heard, type CommitteeView } from './own.js';
import { isTool } from './superseding.js';

/** Most results passed to the next plan. */
const resultsTold = 16;

/** Answers and tool results that count, latest first. */
export const currentResults = ({ run }: CommitteeView): EarlierResult[] =>
  Object.values(run.tasks)
    .filter((task) => heard(task) || (isTool(task.spec.capability) && task.result?.status === 'ok' && !task.superseded))
    .map((task) => ({
      id: `${task.epoch}/${task.origin ?? task.spec.id}`,
      capability: task.spec.capability,
      task: bounded(task.spec.task, 300),
      confidence: isExpert(task.spec.capability) ? task.result!.confidence : null,
      gaps: [...task.result!.gaps],
    }))
    .slice(-resultsTold)
    .reverse();

/** One line about a round's tasks and their findings, for the history. */
export const roundSummary = (view: CommitteeView, tasks: readonly PlannedTask[]) => ({
  planSummary: bounded(tasks.map((task) => `${task.capability}: ${task.query ?? task.task}`).join('; '), 400),
  findings: findings(view, view.run.epoch),
});

/** New facts of a round, latest first, bounded. */
function findings(view: CommitteeView, epoch: number): string {
  const inRound = known(view)
    .filter((fact) => fact.epoch === epoch)
    .reverse();
  if (inRound.length === 0) return tasksOf(view.run, epoch).length === 0 ? 'No task ran.' : 'Nothing new was found.';
  return bounded(inRound.map((fact) => bounded(fact.text.replace(/\s+/g, ' '), 300)).join('\n'), 2_000);
}

/** The answer without a model: known facts with sources, what stays open, and why the run stopped. */
export function ledgerAnswer(view: CommitteeView, reason: string): Draft | null {
  const experts = known(view)
    .filter((fact) => fact.source.kind === 'expert')
    .slice(-3);
  const facts = sourced(view).slice(-10);
  if (experts.length + facts.length === 0) return null;
  const lines = [
    ...experts.map((fact) => `- ${bounded(fact.text, 400)}`),
    ...facts.map((fact, index) => `- ${bounded(fact.text.replace(/\s+/g, ' '), 400)} [${index + 1}]`),
  ];
  const { sources, list } = numbered(facts);
  const text = [
    `What was found so far:\n${lines.join('\n')}`,
    view.run.gap ? `Still open: ${view.run.gap}` : null,
    `Why it stopped: ${reason}`,
    sources.length > 0 ? list : null,
  ];
  return { text: text.filter(Boolean).join('\n\n'), sources, insight: null, cutShort: false, epoch: view.run.epoch };
}
