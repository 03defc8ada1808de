import type { ExpertOutcome, RunCompleted } from '@conclave/contracts';
import { freshness, freshnessOf } from '../research/freshness.js';
import { languageOf } from '@conclave/questions';

type Completed = RunCompleted['data'];

/** Weights that a run or a rating adds to a model's score in a category. */
export interface ScoreUpdate {
  readonly category: string;
  readonly model: string;
  readonly positive: number;
  readonly negative: number;
}
export interface Contributor {
  readonly category: string;
  readonly model: string;
}

/** Longest stored text of one fact, in characters. */
const longestFact = 4_000;
/**
 * Kinds of evidence that are learned. Recalled facts are not learned again. Documents are searched each time: a copy would outlive a change
 * of its document. The result of a tool does not say what the tool was asked, so it would answer any other question.
 */
const outside: ReadonlySet<string> = new Set(['web']);
/** Kinds of sources that people change: what an answer took from them is looked up again. */
const documents: ReadonlySet<string> = new Set(['corpus', 'collection']);

const isLearned = ({ outcome, cached }: Completed): boolean => cached === null && outcome !== 'cancelled' && outcome !== 'failed';
/** False if the review was unreadable or missing: such an answer is not served again. */
const isReviewed = ({ review }: Completed): boolean => review !== 'unparsable' && review !== 'not_reviewed';

/** Whether the gap check failed or was unreadable, so that the answer may be incomplete. */
export const isUnassessed = ({ rule, assessed }: Pick<Completed, 'rule' | 'assessed'>): boolean => rule === 'D3' && assessed === false;

/** Whether anything is learned from this run. A cached answer was already learned when it was first given. */
export const teaches = (run: Completed): boolean => isLearned(run);

/** Whether the answer may be served again: whole, complete, written as intended, and assessed and reviewed where required. */
export const mayServeAgain = (run: Completed): boolean =>
  isLearned(run) &&
  run.outcome === 'completed' &&
  run.reasonCode !== 'composer_failed' &&
  !isUnassessed(run) &&
  !run.cutShort &&
  isReviewed(run) &&
  run.answer !== null &&
  run.answer.trim() !== '';

/**
 * Milliseconds for which an answer may be served to other wordings: `longest`, or less if the question is about current facts.
 */
export const servedAgainMs = (question: string, longest: number): number =>
  freshnessOf(question).kind === 'current' ? Math.min(longest, freshness.current.ttlMs) : longest;

/**
 * Score updates from the experts' own confidence: a confidence of 0.8 counts as 0.8 good and 0.2 bad. An unusable reply counts as bad; if
 * the server failed, the outcome names no model and nothing is counted.
 */
export const confidenceUpdates = (experts: readonly ExpertOutcome[]): readonly ScoreUpdate[] =>
  experts.flatMap(({ category, model, status, confidence }): ScoreUpdate[] => {
    if (model === null) return [];
    if (status === 'error') return [{ category, model, positive: 0, negative: 1 }];
    return status === 'ok' && confidence !== null ? [{ category, model, positive: confidence, negative: 1 - confidence }] : [];
  });

/** Models that contributed to an answer, once per category. */
export const contributorsOf = (experts: readonly ExpertOutcome[]): readonly Contributor[] => {
  const answered = experts.filter(({ model, status }) => model !== null && status === 'ok');
  return [...new Map(answered.map(({ category, model }) => [JSON.stringify([category, model]), { category, model: model! }])).values()];
};

/** A rating from 1 to 5 as weights: 4 and 5 are good, 1 and 2 bad, 3 is neutral. */
export const ratingUpdates = (rating: number, contributors: readonly Contributor[]): readonly ScoreUpdate[] =>
  rating === 3
    ? []
    : contributors.map(({ category, model }) => ({ category, model, positive: rating > 3 ? 1 : 0, negative: rating > 3 ? 0 : 1 }));

/** A fact as stored in the collection of facts. */
export interface KeptFact {
  readonly id: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * External findings of a run, and its answer if it may be served again and rests on no document, with the metadata that
 * `metadata_filters` select by.
 */
export function factsOf(runId: string, run: Completed): readonly KeptFact[] {
  if (!isLearned(run) || run.learning.graph === 'off') return [];
  const found = run.evidence
    .filter(({ text, source }) => outside.has(source.kind) && text.trim() !== '')
    .map(({ text, source }) => ({ text, source: source.url ?? source.title }));
  const rests = run.evidence.some(({ source }) => documents.has(source.kind));
  const answer = mayServeAgain(run) && !rests ? [{ text: `${run.question.slice(0, 500)}\n${run.answer!}`, source: 'answer' }] : [];
  return [...new Map([...found, ...answer].map((fact) => [fact.text, fact])).values()].map(({ text, source }, index) => ({
    id: `${runId}/${index}`,
    text: text.slice(0, longestFact),
    metadata: {
      expert_domain: domainOf(run.experts),
      template: run.template.id,
      language: languageOf(text.slice(0, 2_000), 200) ?? 'unknown',
      source: source.slice(0, 1_000),
      date: new Date(run.completedAt).toISOString().slice(0, 10),
      run: runId,
    },
  }));
}

/** Category of the expert most confident of its answer; the first of equals. */
export function domainOf(experts: readonly ExpertOutcome[]): string {
  const answered = experts.filter(({ status }) => status === 'ok');
  const surest = Math.max(...answered.map(({ confidence }) => confidence ?? 0));
  return answered.find(({ confidence }) => (confidence ?? 0) === surest)?.category ?? 'general';
}
