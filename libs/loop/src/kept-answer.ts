import type { EngineEntry, PlanRequested } from '@conclave/contracts';
import { step } from './engine.js';
import type { Strategies } from './view.js';

/**
 * What the run stream will hold of a run whose request carries the answer of a cache: the entries of the engine's own first step, the
 * last one `run.completed`. Null where the request carries none. Whoever has the request can answer from them before the engine has
 * come to it, in the same words. They hold unless a command reaches the engine before the request does.
 */
export function keptEntries(request: PlanRequested, strategies: Strategies): readonly EngineEntry[] | null {
  if (!request.data.cached) return null;
  return step(null, request, request.data.requestedAt, strategies)?.entries ?? null;
}

/** Whether the engine's first step on this request awaits a plan: else the planner has nothing to do. */
export const awaitsPlan = (request: PlanRequested, strategies: Strategies): boolean =>
  step(null, request, request.data.requestedAt, strategies)?.next.awaiting?.epoch === 0;
