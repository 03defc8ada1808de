import { noUsage, type RunView, type StreamBody } from '@conclave/contracts';

type Completed = Extract<StreamBody, { kind: 'run.completed' }>;

/** The terminal entry of a run whose stream does not hold it any more, from the stored run. */
export const completedOf = (view: RunView): Completed => ({
  kind: 'run.completed',
  outcome: view.outcome ?? 'failed',
  rule: view.rule,
  reason: view.reason ?? '',
  reasonCode: view.reasonCode ?? '',
  answer: view.answer,
  cutShort: view.cutShort,
  sources: view.sources,
  usage: view.usage.total ?? noUsage,
  rounds: view.rounds.length,
  failure: view.failure,
});
