import type { PlanRequested, TextMessage } from '@conclave/contracts';
import type { RunState } from '@conclave/loop';
import { bounded, oneLine } from './quoting.js';

type Request = Pick<PlanRequested['data'], 'goal' | 'conversation'>;

/** Most earlier questions with which a follow-up is read, and characters of each. */
const mostBefore = 2;
const longestBefore = 300;

/** What the user asked before, oldest first. */
export const earlierQuestions = ({ conversation }: { readonly conversation: readonly TextMessage[] }): readonly string[] =>
  conversation.flatMap(({ role, content }) => (role === 'user' && content.trim() !== '' ? [content] : []));

/** The latest of them, shortened for a prompt. */
export const shownBefore = (request: Request): readonly string[] =>
  earlierQuestions(request)
    .slice(-mostBefore)
    .map((text) => bounded(oneLine(text), longestBefore));

/** The line that shows a model that does not see the conversation to what a follow-up may refer; null if nothing was asked before. */
export const askedBeforeLine = (before: readonly string[]): string | null =>
  before.length === 0 ? null : `The user asked before: ${before.map((text) => `"${text}"`).join(', then ')}`;

/**
 * The question as a model understands it that does not see the conversation: in the full words of the planner, or else with the questions
 * before it.
 */
export function questionInFull({ request, memory }: Pick<RunState, 'request' | 'memory'>): string {
  if (request.conversation.length === 0) return request.goal;
  return memory.searchQuestion ?? [request.goal, askedBeforeLine(shownBefore(request)) ?? ''].join('\n').trimEnd();
}

/** Text that finds what a follow-up is about: the planner's full words, or else the question before it and its own words. */
export const searchTextOf = (request: Request, searchQuestion: string | null = null): string =>
  searchQuestion ?? [...shownBefore(request).slice(-1), request.goal].join(' ');
