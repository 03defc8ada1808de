import type { Finding } from '../evidence/evidence.js';
import { findingOf, type Case } from './case.js';
import { terminalEvents } from './terminal-events.js';

const finding = findingOf('webhooks-told');

/** Check 10: the receiver took the end of every run at least once, signed, and always under the same id. */
export function checkWebhooks(of: Case): readonly Finding[] {
  const { told } = of.evidence;
  if (!told) return [];
  const ends = terminalEvents(of);
  const known = new Set([...told.runs, ...(of.evidence.deleted ?? []).map(({ runId }) => runId)]);
  return [
    ...told.deliveries.flatMap(({ id, runId }) => {
      if (runId === null) return [finding(id, 'Its signature or its body is invalid.')];
      return known.has(runId) ? [] : [finding(id, `It tells the end of ${runId}, for which nobody asked to be told.`)];
    }),
    ...told.runs.flatMap((runId) => {
      const its = told.deliveries.filter((delivery) => delivery.runId === runId);
      const ids = new Set(its.map(({ id }) => id));
      const outcome = ends.get(runId)?.data.outcome;
      return [
        ...(its.some(({ refused }) => !refused)
          ? []
          : [finding(runId, `Its receiver took no delivery of its end; it refused ${its.length}.`)]),
        ...(ids.size > 1 ? [finding(runId, `Its end was delivered under ${ids.size} ids: ${[...ids].join(', ')}.`)] : []),
        ...its
          .filter((delivery) => outcome !== undefined && delivery.outcome !== outcome)
          .map((delivery) => finding(runId, `It ended ${outcome}, and its receiver was told ${delivery.outcome}.`)),
      ];
    }),
  ];
}
