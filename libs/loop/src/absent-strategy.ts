import type { StrategyId } from '@conclave/contracts';
import type { Strategy } from './strategy.js';
import type { Strategies } from './view.js';

const nothing = (): never => {
  throw new Error('A run of a strategy that is not there can only be ended.');
};

/** Replaces a strategy that this version does not have, so that its runs can still be ended. */
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

export const orAbsent =
  (strategies: Strategies): Strategies =>
  (id) => {
    try {
      return strategies(id);
    } catch {
      return absent(id);
    }
  };
