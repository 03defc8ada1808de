import type { Finding } from '../evidence/evidence.js';
import { findingOf, type Case } from './case.js';
import { terminalEvents } from './terminal-events.js';

const finding = findingOf('enough-succeeded');

/** Runs whose acceptance a client received, and those of them that succeeded. */
export interface Success {
  readonly accepted: ReadonlySet<string>;
  readonly answered: ReadonlySet<string>;
}

/**
 * A run succeeded if its terminal event contains an answer and a client's ask for it ended `ok`. An ask with unknown outcome is not a
 * success, whatever the outcome of its run. Runs that only the log knows must end (check 1), and do not count here.
 */
export function successOf(of: Case): Success {
  const ok = new Set(
    of
      .lines('ask')
      .filter(({ phase }) => phase === 'ok')
      .map(({ id }) => id),
  );
  const accepted = new Set(of.evidence.asked.flatMap(({ runId }) => (runId === null ? [] : [runId])));
  const told = new Set(of.evidence.asked.flatMap(({ id, runId }) => (runId !== null && ok.has(id) ? [runId] : [])));
  const ends = terminalEvents(of);
  const answered = [...told].filter((runId) => {
    const end = ends.get(runId)?.data;
    return end !== undefined && end.answer !== null && end.outcome !== 'failed' && end.outcome !== 'cancelled';
  });
  return { accepted, answered: new Set(answered) };
}

/** Makes sure that enough was asked and answered: without that, a storm shows nothing. */
export function checkEnough(of: Case, { accepted, answered }: Success): readonly Finding[] {
  const { bounds, evidence } = of;
  if (accepted.size < bounds.accepted)
    return [finding(evidence.scenario, `${accepted.size} runs were accepted; at least ${bounds.accepted} must be.`)];
  const counted = [...accepted].filter((runId) => !bounds.mayFail.includes(runId));
  const good = counted.filter((runId) => answered.has(runId)).length;
  if (counted.length === 0 || good / counted.length >= bounds.answered) return [];
  const sentence = `${good} of ${counted.length} accepted runs were answered to a client that saw it; at least ${Math.round(bounds.answered * 100)} % must be.`;
  return [finding(evidence.scenario, sentence)];
}
