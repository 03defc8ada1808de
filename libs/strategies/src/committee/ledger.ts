import type { Draft, EarlierResult, PlannedTask } from '@conclave/contracts';
import { isExpert, tasksOf, unwrittenReason } from '@conclave/loop';
import { answerWords } from '../answer-words/languages.js';
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

/**
 * The answer without a model: known facts with sources, what stays open, why the run stopped, and the failure of the call that was to write
 * it.
 */
export function ledgerAnswer(view: CommitteeView, reason: string, unwritten: string | null = null): Draft | null {
  const experts = known(view)
    .filter((fact) => fact.source.kind === 'expert')
    .slice(-3);
  const facts = sourced(view)
    .filter(({ source }) => source.kind !== 'request')
    .slice(-10);
  if (experts.length + facts.length === 0) return null;
  const lines = [
    ...experts.map((fact) => `- ${bounded(fact.text, 400)}`),
    ...facts.map((fact, index) => `- ${bounded(fact.text.replace(/\s+/g, ' '), 400)} [${index + 1}]`),
  ];
  const words = answerWords(view.run.request.language);
  const { sources, list } = numbered(facts, words);
  const text = [
    `${words.found}\n${lines.join('\n')}`,
    view.run.gap ? `${words.stillOpen} ${view.run.gap}` : null,
    `${words.whyStopped} ${unwritten ? unwrittenReason(reason, unwritten) : reason}`,
    sources.length > 0 ? list : null,
  ];
  return { text: text.filter(Boolean).join('\n\n'), sources, insight: null, cutShort: false, epoch: view.run.epoch };
}
