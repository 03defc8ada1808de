import type { Template } from '@conclave/contracts';
import { readBudget } from './budget.js';
import type { RunState } from './state.js';
import type { Limits, Strategy, View } from './strategy.js';

/** Returns a strategy by id; throws for an unknown one. */
export type Strategies = (id: string) => Strategy;

/** The run's template. A strategy that took the run over has its options under its own name in the options of the template. */
function templateOf({ request: { template }, strategy }: RunState): Template {
  if (strategy === template.strategy) return template;
  return { ...template, options: (template.options?.[strategy] ?? {}) as Record<string, unknown> };
}

/** The strategy's view; `now` is null if the result must not depend on the clock. */
export function viewOf(run: RunState, strategies: Strategies, now: number | null): View {
  const view: View = { run, own: run.own, template: templateOf(run), budget: null, lastRound: false };
  if (now === null) return view;
  const { rounds } = strategies(run.strategy).limits(view);
  return { ...view, budget: readBudget(run, now).level, lastRound: run.rounds + (run.round ? 1 : 0) >= rounds };
}

export const limitsOf = (run: RunState, strategies: Strategies): Limits => strategies(run.strategy).limits(viewOf(run, strategies, null));
