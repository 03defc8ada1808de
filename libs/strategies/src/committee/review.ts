import type { Draft, Review, SafetyTopic } from '@conclave/contracts';
import { isExpert, type Verdict } from '@conclave/loop';
import { answerWords } from '../answer-words/languages.js';
import { complexityOfRequest } from '../without-plan.js';
import { categoryOf, wantsFormat, type CommitteeView, type Own } from './own.js';

/** Longest answer, in characters, that is not reviewed. */
const shortAnswer = 100;

/** Category whose review covers a topic; `null` if any review does. */
const categoryOfTopic: Readonly<Record<SafetyTopic, string | null>> = { medicine: 'medical_consult', law: 'legal_advisor', danger: null };

/**
 * Safety-critical categories that any round has asked or whose topic the question shows: neither a re-plan nor a planner that
 * overlooks the topic can drop the review.
 */
export function reviewedCategories({ run, own, template }: CommitteeView): readonly string[] {
  const reviewed = new Set(template.critic?.categories ?? []);
  if (reviewed.size === 0) return [];
  const asked = Object.values(run.tasks).filter((task) => isExpert(task.spec.capability));
  // No plan has named the topics of a run that ended before its first.
  const topics = run.plan === null ? [...own.safety, ...complexityOfRequest(run.request).safety] : own.safety;
  const shown = topics.map((topic) => categoryOfTopic[topic] ?? topic);
  return [...new Set([...asked.map(categoryOf), ...shown])].filter((category) => reviewed.has(category) || category === 'danger');
}

/** Whether an answer needs a verdict before it is delivered. */
export const needsReview = (view: CommitteeView, answer: Draft | null): boolean =>
  answer !== null && answer.text.length > shortAnswer && reviewedCategories(view).length > 0;

/** Review status of the answer if the run has ended or would end now. */
export const reviewOf = (view: CommitteeView, answer: Draft | null): Review =>
  view.own.review ?? (needsReview(view, answer) ? 'not_reviewed' : 'none');

/** An answer delivered without a verdict, with a note if one was due. */
export const unreviewed = (view: CommitteeView, answer: Draft): Draft =>
  view.own.review === null && needsReview(view, answer) ? remarked(view, answer, 'notReviewed') : answer;

/** Applies the verdict to the answer. */
export function reviewed(own: Own, verdict: Verdict, view: CommitteeView): Own {
  const answer = own.draft!;
  const critique = verdict.result?.output?.kind === 'critique' ? verdict.result.output : null;
  if (!critique) return { ...own, draft: unreviewed(view, answer), review: 'not_reviewed' };
  const review = critique.verdict;
  if (review === 'corrected' && critique.text) return { ...own, draft: { ...answer, text: critique.text, insight: null }, review };
  return { ...own, draft: review === 'unparsable' ? remarked(view, answer, 'verdictUnread') : answer, review };
}

const remarked = (view: CommitteeView, answer: Draft, what: 'notReviewed' | 'verdictUnread'): Draft =>
  wantsFormat(view) ? answer : { ...answer, text: `${answer.text}\n\n${answerWords(view.run.request.language)[what]}` };
