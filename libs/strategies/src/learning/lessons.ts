import type { ExpertOutcome, RunCompleted } from '@conclave/contracts';
import { freshness, freshnessOf } from '../research/freshness.js';
import { languageOf } from '@conclave/questions';

type Completed = RunCompleted['data'];

/** Weights that a run or a rating adds to what is known of a model in a category. */
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

/** Longest text of one fact that is kept, in characters. */
const longestFact = 4_000;
/** Kinds of evidence that came from outside: what was remembered is not remembered again, and documents stay in their collections. */
const outside: ReadonlySet<string> = new Set(['web', 'corpus', 'tool']);

const isLearned = ({ outcome, cached }: Completed): boolean => cached === null && outcome !== 'cancelled' && outcome !== 'failed';
/** A reviewer that could not be understood, or did not come to it, leaves an answer that nobody shall get again. */
const isReviewed = ({ review }: Completed): boolean => review !== 'unparsable' && review !== 'not_reviewed';

/** A gap check that failed or could not be read leaves an answer of which nobody knows whether something is missing. */
export const isUnassessed = ({ rule, assessed }: Pick<Completed, 'rule' | 'assessed'>): boolean => rule === 'D3' && assessed === false;

/** Whether anything is learned of this run. What a cache answered was learned when it was answered for the first time. */
export const teaches = (run: Completed): boolean => isLearned(run);

/** Whether the answer may be given to the next who asks: whole, complete, written as intended, and assessed and reviewed where it had to be. */
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
 * Milliseconds that an answer may be served again for another wording: `longest`, or less where the question is about what holds now.
 */
export const servedAgainMs = (question: string, longest: number): number =>
  freshnessOf(question).kind === 'current' ? Math.min(longest, freshness.current.ttlMs) : longest;

/**
 * What the experts' own confidence says: an answer counts as good to that share. A model that answered with something that could not
 * be used counts as bad; where its server failed no model stands in the outcome, and nothing is counted.
 */
export const confidenceUpdates = (experts: readonly ExpertOutcome[]): readonly ScoreUpdate[] =>
  experts.flatMap(({ category, model, status, confidence }): ScoreUpdate[] => {
    if (model === null) return [];
    if (status === 'error') return [{ category, model, positive: 0, negative: 1 }];
    return status === 'ok' && confidence !== null ? [{ category, model, positive: confidence, negative: 1 - confidence }] : [];
  });

/** Models that an answer was made of, each category's once. */
export const contributorsOf = (experts: readonly ExpertOutcome[]): readonly Contributor[] => {
  const answered = experts.filter(({ model, status }) => model !== null && status === 'ok');
  return [...new Map(answered.map(({ category, model }) => [JSON.stringify([category, model]), { category, model: model! }])).values()];
};

/** A rating from 1 to 5 as weights: 4 and 5 are good, 1 and 2 bad, 3 says nothing. */
export const ratingUpdates = (rating: number, contributors: readonly Contributor[]): readonly ScoreUpdate[] =>
  rating === 3
    ? []
    : contributors.map(({ category, model }) => ({ category, model, positive: rating > 3 ? 1 : 0, negative: rating > 3 ? 0 : 1 }));

/** A fact as the collection of facts keeps it. */
export interface KeptFact {
  readonly id: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What a run found outside, and its answer where that may be served again, with what `metadata_filters` select by. */
export function factsOf(runId: string, run: Completed): readonly KeptFact[] {
  if (!isLearned(run) || run.learning.graph === 'off') return [];
  const found = run.evidence
    .filter(({ text, source }) => outside.has(source.kind) && text.trim() !== '')
    .map(({ text, source }) => ({ text, source: source.url ?? source.title }));
  const answer = mayServeAgain(run) ? [{ text: `${run.question.slice(0, 500)}\n${run.answer!}`, source: 'answer' }] : [];
  return [...new Map([...found, ...answer].map((fact) => [fact.text, fact])).values()].map(({ text, source }, index) => ({
    id: `${runId}/${index}`,
    text: text.slice(0, longestFact),
    metadata: {
      expert_domain: domainOf(run.experts),
      template: run.template.id,
      language:
        languageOf(
          (
            text
              .slice(0, 2_000)
              .toLowerCase()
              .match(/[\p{L}']+/gu) ?? []
          ).slice(0, 200),
        ) ?? 'unknown',
      source: source.slice(0, 1_000),
      date: new Date(run.completedAt).toISOString().slice(0, 10),
      run: runId,
    },
  }));
}

/** Category of the expert that was surest of its answer; the first of equals. */
function domainOf(experts: readonly ExpertOutcome[]): string {
  const answered = experts.filter(({ status }) => status === 'ok');
  const surest = Math.max(...answered.map(({ confidence }) => confidence ?? 0));
  return answered.find(({ confidence }) => (confidence ?? 0) === surest)?.category ?? 'general';
}
