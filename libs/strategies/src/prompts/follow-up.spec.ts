import { describe, expect, it } from '@jest/globals';
import type { PlanRequested } from '@conclave/contracts';
import type { RunState } from '@conclave/loop';
import { askedBeforeLine, questionInFull, searchTextOf, shownBefore } from './follow-up.js';

const asked = (goal: string, ...before: readonly string[]) =>
  ({
    goal,
    conversation: before.flatMap((content) => [
      { role: 'user' as const, content },
      { role: 'assistant' as const, content: 'An answer.' },
    ]),
  }) as unknown as PlanRequested['data'];
const run = (request: PlanRequested['data'], searchQuestion: string | null = null) =>
  ({ request, memory: { searchQuestion } }) as unknown as RunState;

describe('a follow-up', () => {
  it('reads in the full words of the planner, or else with the two questions before it', () => {
    const request = asked('Is it deep?', 'What is a fjord?', 'Name one.', 'Where is it?');
    expect(questionInFull(run(request, 'Is the Kettle Sound deep?'))).toBe('Is the Kettle Sound deep?');
    expect(questionInFull(run(request))).toBe('Is it deep?\nThe user asked before: "Name one.", then "Where is it?"');
    expect(searchTextOf(request)).toBe('Where is it? Is it deep?');
  });

  it('is the question itself where nothing was asked before', () => {
    expect(questionInFull(run(asked('Is it deep?'), 'Other words?'))).toBe('Is it deep?');
    expect(searchTextOf(asked('Is it deep?'))).toBe('Is it deep?');
    expect(askedBeforeLine([])).toBeNull();
  });

  it('shows long questions in one short line', () => {
    expect(shownBefore(asked('Why?', `a\n${'b'.repeat(400)}`))).toEqual([`a ${'b'.repeat(297)}…`]);
  });
});
