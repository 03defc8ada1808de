import { expect, it } from '@jest/globals';
import { budgetSentence, decideRow, otherRules, type Situation } from './table.js';

const situation: Situation = {
  reading: { by: 'assessment', sufficient: false, open: 'more' },
  budget: { level: 'free', name: 'model_calls', used: 1, limit: 60 },
  limits: { rounds: 4, adjusts: 3, stuck: 3, stall: 2, end: 'limit_reached' },
  rounds: 2,
  failedRounds: 0,
  roundsWithoutFacts: 0,
  circling: true,
  adjusted: false,
  replans: 1,
};

it('reports repeated actions, not the number of empty rounds, if the run oscillates', () => {
  expect(decideRow(situation)).toMatchObject({ rule: 'D7', sentence: expect.stringContaining('over and over') });
  expect(decideRow({ ...situation, adjusted: true })).toMatchObject({ rule: 'D8', choice: { outcome: 'stalled' } });
  expect(decideRow({ ...situation, replans: 3 })).toMatchObject({ rule: 'D8', sentence: expect.stringContaining('no re-plan is left') });
});

it('ends after the last round even if the plan has tasks left', () => {
  const held: Situation = { ...situation, circling: false, reading: { ...situation.reading, held: 2 } };
  expect(decideRow(held).rule).toBe('D5');
  expect(decideRow({ ...held, rounds: 4 }).rule).toBe('D6');
});

it('shows money with as many digits as a small amount needs', () => {
  const cost = (used: number, limit: number) => ({ level: 'reserve', name: 'cost', used, limit }) as const;
  expect(budgetSentence(cost(0.006217, 0.0063))).toBe('The budget of money is nearly used up: 0.00622 of 0.0063.');
  expect(budgetSentence(cost(12.3456, 12.5))).toBe('The budget of money is nearly used up: 12.35 of 12.5.');
  const [row] = otherRules('D3', { ...situation, budget: cost(0.0001234, 0.5) });
  expect(row!.sentence).toBe('The budget that was used most: 0.000123 of 0.5 money.');
});
