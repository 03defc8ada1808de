import { type Fork, readFact } from '@conclave/contracts';
import type { Turning } from './turning.js';
import { answerDeadline } from './waiting.js';

/** Begins a fork: folds the facts of the other run, then asks again for what that run was waiting for. */
export function takeUp(turning: Turning, { of, step, ranMs: ran, facts, again }: Fork): void {
  for (const fact of facts) turning.recall(readFact(fact));
  const { now } = turning;
  if (turning.run.paused) turning.put({ kind: 'Resumed', at: now });
  turning.put({ kind: 'RunForked', of, step, at: now, ranMs: ran });
  const planMs = turning.run.request.template.planning_timeout_s * 1000;
  for (const fact of again.map(readFact)) {
    if (fact.kind === 'PlanAwaited') turning.put({ ...fact, deadline: now + planMs });
    // Tool calls of the client belong to the other run, and their results arrive there: this run continues without them.
    if (fact.kind === 'QuestionAsked' && !fact.calls) turning.put({ ...fact, at: now, deadline: answerDeadline(turning) });
  }
}
