import { orAbsent } from './absent-strategy.js';
import { nextDue } from './due.js';
import { foldFacts } from './fold.js';
import { restoredFacts } from './recorded-facts.js';
import type { RecordedStep } from './recorded-step.js';
import type { RunState } from './state.js';
import type { Strategies } from './view.js';

/** State after a recorded step, from its facts alone. Throws if today's code does not know one of them. */
export function foldStep(runId: string, state: RunState | null, recorded: RecordedStep, strategies: Strategies): RunState {
  const { input, request, now, facts, hash } = recorded;
  const restored = restoredFacts(facts, { input: input.data, ...(request ? { request: request.data } : {}) });
  const folded = foldFacts(state, restored, runId, orAbsent(strategies));
  if (folded === null) throw new Error(`The first step of ${runId} has no fact.`);
  const run = { ...folded, last: Math.max(now, state?.last ?? now), hash };
  return { ...run, due: nextDue(run, input.type === 'TimerFired') ?? run.due };
}
