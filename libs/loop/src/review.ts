import type { SafetyTopic } from '@conclave/contracts';
import { dispatchJudge } from './dispatch.js';
import type { Moves } from './moves.js';
import { type BornRun, type Draft, type TaskState } from './state.js';
import type { Strategy } from './strategy.js';
import { optionsOf } from './template-options.js';
import { categoryOf } from './tiers.js';
import { isExpert } from './plan-rules.js';
import { wantsFormat } from './compose.js';

/** Answers up to this many characters are not reviewed (moe.md, Critic). */
const shortAnswer = 100;

const sentences = {
  not_reviewed: 'This answer touches a topic where it should have been reviewed; it was not reviewed.',
  unparsable: 'This answer was given to a review whose verdict could not be read.',
} as const;

/** Category of the reviews that stand for a topic; `null` where any review does. */
const categoryOfTopic: Readonly<Record<SafetyTopic, string | null>> = {
  medicine: 'medical_consult',
  law: 'legal_advisor',
  danger: null,
};

/**
 * Safety-critical categories that any round of the run has asked, or whose topic the question itself shows: neither a re-plan nor a
 * planner that sees nothing in it drops the review.
 */
export function reviewedCategories(run: BornRun): readonly string[] {
  const reviewed = new Set(optionsOf(run.template).reviewed);
  if (reviewed.size === 0) return [];
  const asked = Object.values(run.tasks).filter((task) => isExpert(task.spec.capability));
  const shown = (run.safety ?? []).map((topic) => categoryOfTopic[topic] ?? topic);
  return [...new Set([...asked.map(categoryOf), ...shown])].filter((category) => reviewed.has(category) || category === 'danger');
}

/** Whether text may go out only after a verdict: nothing that can still be changed is streamed. */
export const isHeld = (run: BornRun): boolean => reviewedCategories(run).length > 0;

/** Gives an answer to the critic. True when the run waits for its verdict; an answer it cannot be asked about says so. */
export function review(moves: Moves, strategy: Strategy, answer: Draft): boolean {
  const { run } = moves;
  const categories = reviewedCategories(run);
  if (run.review !== undefined || categories.length === 0 || answer.text.length <= shortAnswer) return false;
  run.phase = 'reviewing';
  run.reviewing = answer;
  if (dispatchJudge(moves, 'critic', strategy.criticInput(run, answer, categories), { stream: 'held', fromReserve: true })) return true;
  return false;
}

/** An answer of a category that is reviewed, when no verdict can be had any more. */
export function unreviewed(run: BornRun, answer: Draft): Draft {
  if (reviewedCategories(run).length === 0 || answer.text.length <= shortAnswer) return answer;
  if (run.review !== undefined) return answer;
  run.review = 'not_reviewed';
  return remarked(run, answer, sentences.not_reviewed);
}

/** The answer as the verdict leaves it. */
export function reviewed(run: BornRun, critic: TaskState): Draft {
  const answer = run.reviewing!;
  const critique = critic.result?.status === 'ok' ? critic.result.critique : undefined;
  if (!critique) return unreviewed(run, answer);
  run.review = critique.verdict;
  if (critique.verdict === 'corrected' && critique.text) return { ...answer, text: critique.text, insight: null };
  return critique.verdict === 'unparsable' ? remarked(run, answer, sentences.unparsable) : answer;
}

const remarked = (run: BornRun, answer: Draft, sentence: string): Draft =>
  wantsFormat(run) ? answer : { ...answer, text: `${answer.text}\n\n${sentence}` };
