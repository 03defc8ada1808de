import { expect, it } from '@jest/globals';
import { decideRow, type Situation } from './table.js';

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
