import type { EngineEntry, GapDetected, PlanRequested } from '@conclave/contracts';
import { budgetLeft } from './budget.js';
import { step } from './engine.js';
import { viewOf, type Strategies } from './view.js';

/**
 * The run stream entries of a run whose request contains a cached answer: those of the engine's first step, the last one `run.completed`.
 * Null if the request contains none. With them, a process that has the request can answer before the engine does, in the same words. Valid
 * unless a command reaches the engine before the request does.
 */
export function keptEntries(request: PlanRequested, strategies: Strategies): readonly EngineEntry[] | null {
  if (!request.data.cached) return null;
  return step(null, request, request.data.requestedAt, strategies)?.entries ?? null;
}

/**
 * The planner's input for the first plan, computed by the engine's first step on this request: the strategy that asks, its data, and what
 * is left of the budget. Null if that step awaits no plan, so that the planner has nothing to do.
 */
export function firstPlanAsked(
  request: PlanRequested,
  strategies: Strategies,
): (Pick<GapDetected['data'], 'asked' | 'left'> & { readonly strategy: string }) | null {
  const run = step(null, request, request.data.requestedAt, strategies)?.next;
  if (run?.awaiting?.epoch !== 0) return null;
  const strategy = strategies(run.strategy);
  const left = budgetLeft(run, request.data.requestedAt);
  return { strategy: run.strategy, left, ...strategy.planner.ask(viewOf(run, strategies, null), { forbidTried: false }) };
}
