import type { StrategyId } from '@conclave/contracts';
import type { Strategy } from './strategy.js';
import type { Strategies } from './view.js';

const nothing = (): never => {
  throw new Error('A run whose strategy is missing can only be ended.');
};

/** Replaces a strategy that this version does not have, or whose code failed, so that its runs can still be ended. */
const absent = (id: string): Strategy => ({
  id: id as StrategyId,
  commands: [],
  limits: () => ({ rounds: 1, adjusts: 0, stuck: 1, stall: null, end: 'limit_reached' }),
  planner: { ask: () => ({}), faults: () => [] },
  judges: {},
  initial: () => null,
  task: nothing,
  onPlan: nothing,
  next: () => [{ do: 'plan' }],
  lastAnswer: () => null,
  summary: () => ({ planSummary: '', findings: '' }),
  report: () => ({ complexity: 'moderate', review: 'none' }),
});

/** The strategies, without one of them. */
export const without =
  (id: string, strategies: Strategies): Strategies =>
  (wanted) =>
    wanted === id ? absent(id) : strategies(wanted);

export const orAbsent =
  (strategies: Strategies): Strategies =>
  (id) =>
    known(strategies, id) ?? absent(id);

export const isKnown = (strategies: Strategies, id: string): boolean => known(strategies, id) !== null;

function known(strategies: Strategies, id: string): Strategy | null {
  try {
    return strategies(id);
  } catch {
    return null;
  }
}
