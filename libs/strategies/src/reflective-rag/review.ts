import type { Draft, Review } from '@conclave/contracts';
import { currentFacts, type Verdict } from '@conclave/loop';
import { criticQuestion } from '../asks/questions.js';
import type { AskedJudge } from '../asks/asked-judge.js';
import { criticInput } from '../committee/context.js';
import { initialOwn as committeeOwn, type CommitteeView } from '../committee/own.js';
import * as committee from '../committee/review.js';
import { KnownCitations } from '../replies/known-citations.js';
import type { Own, RagView } from './own.js';

/** A run as the rules of a committee's review see it. */
const asCommittee = (view: RagView): CommitteeView => {
  const { safety, draft, review } = view.own;
  return { ...view, own: { ...committeeOwn, safety, draft, review } };
};

/** Whether the answer is held back until the critic has read it. */
export const isReviewed = (view: RagView): boolean => committee.reviewedCategories(asCommittee(view)).length > 0;

/** Whether the written answer needs a verdict before it is delivered. */
export const awaitsReview = (view: RagView): boolean =>
  view.own.review === null && committee.needsReview(asCommittee(view), view.own.draft);

export const reviewOf = (view: RagView, answer: Draft | null): Review => committee.reviewOf(asCommittee(view), answer);

/** An answer delivered without a verdict, with a note if one was due. */
export const unreviewed = (view: RagView, answer: Draft): Draft => committee.unreviewed(asCommittee(view), answer);

/** Reviews the answer against the facts in the order in which it cites them. */
export const critic: AskedJudge<Own> = {
  question: criticQuestion,
  task: 'Review the answer',
  input: (view) => {
    const seen = asCommittee(view);
    const input = criticInput(seen, view.own.draft!, committee.reviewedCategories(seen));
    return input.kind === 'critic' ? { ...input, facts: [...currentFacts(view.run.memory)] } : input;
  },
  take: (own, verdict, view) => ({ ...own, ...verdictOn(verdict, view) }),
};

function verdictOn(verdict: Verdict, view: RagView): Pick<Own, 'draft' | 'review'> {
  const seen = asCommittee(view);
  const { draft, review } = committee.reviewed(seen.own, verdict, seen);
  if (draft === null || review !== 'corrected') return { draft, review };
  // A corrected answer may cite only facts of the ledger, like any other.
  const { memory, request } = view.run;
  const known = new KnownCitations(currentFacts(memory).length, request.goal);
  return { draft: { ...draft, text: known.push(draft.text) + known.end() }, review };
}
