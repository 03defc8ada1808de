import type { PlanRequested } from '@conclave/contracts';
import { orAbsent } from './absent-strategy.js';
import { nextDue } from './due.js';
import { foldFacts } from './fold.js';
import { restoredFacts } from './recorded-facts.js';
import type { RecordedStep } from './recorded-step.js';
import type { RunState } from './state.js';
import { completed, unusableState } from './stored-state.js';
import type { Strategies } from './view.js';

/** State after a recorded step, from its facts alone. Throws if today's code does not know one of them. */
export function foldStep(runId: string, state: RunState | null, recorded: RecordedStep, strategies: Strategies): RunState {
  const { input, now, hash } = recorded;
  const known = orAbsent(strategies);
  const folded = foldFacts(state && completed(state, known), restoredFacts(recorded), runId, known);
  if (folded === null) throw new Error(`The first step of ${runId} has no fact.`);
  const run = { ...folded, last: Math.max(now, state?.last ?? now), hash };
  return { ...run, due: nextDue(run, input.type === 'TimerFired') ?? run.due };
}

/**
 * As `foldStep`, for a store that reads its own run. A step that this version cannot fold was taken by another one. Its run must still be
 * readable, and the next input has to end it, so the state before the step is returned, marked as unusable.
 */
export function foldStored(runId: string, state: RunState | null, recorded: RecordedStep, strategies: Strategies): RunState {
  const { hash, input, request } = recorded;
  // The chain of hashes goes on even where the states do not.
  if (state?.unusable !== undefined) return { ...state, hash };
  try {
    return foldStep(runId, state, recorded, strategies);
  } catch (error) {
    const asked = (request ?? (input.type === 'PlanRequested' ? input : null))?.data as PlanRequested['data'] | undefined;
    const marked = unusableState(state, runId, asked ?? null, error instanceof Error ? error.message : String(error));
    if (marked === null) throw error;
    return { ...marked, hash };
  }
}
