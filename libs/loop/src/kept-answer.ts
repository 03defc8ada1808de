import type { EngineEntry, GapDetected, PlanRequested } from '@conclave/contracts';
import { step } from './engine.js';
import { viewOf, type Strategies } from './view.js';

/**
 * What the run stream will hold of a run whose request carries the answer of a cache: the entries of the engine's own first step, the
 * last one `run.completed`. Null where the request carries none. Whoever has the request can answer from them before the engine has
 * come to it, in the same words. They hold unless a command reaches the engine before the request does.
 */
export function keptEntries(request: PlanRequested, strategies: Strategies): readonly EngineEntry[] | null {
  if (!request.data.cached) return null;
  return step(null, request, request.data.requestedAt, strategies)?.entries ?? null;
}

/**
 * What the planner works on for the first plan, as the engine's first step on this request leaves it: the strategy that asks, and what it
 * gives. Null where that step awaits no plan: then the planner has nothing to do.
 */
export function firstPlanAsked(
  request: PlanRequested,
  strategies: Strategies,
): (Pick<GapDetected['data'], 'asked'> & { readonly strategy: string }) | null {
  const run = step(null, request, request.data.requestedAt, strategies)?.next;
  if (run?.awaiting?.epoch !== 0) return null;
  const strategy = strategies(run.strategy);
  return { strategy: run.strategy, ...strategy.planner.ask(viewOf(run, strategies, null), { forbidTried: false }) };
}
