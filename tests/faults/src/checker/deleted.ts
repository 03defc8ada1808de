import { rootOf } from '@conclave/contracts';
import type { Evidence, Finding } from '../evidence/evidence.js';
import { findingOf, type Case } from './case.js';

const finding = findingOf('deleted-is-gone');
/** A delivery that had begun may arrive this many milliseconds after the deletion. */
const lateMs = 2_000;

/**
 * What is left for the checks that follow a run from its request to its end: those of a deleted run cannot be followed, because its
 * records are erased.
 */
export function withoutDeleted(evidence: Evidence): Evidence {
  const deleted = new Set((evidence.deleted ?? []).map(({ runId }) => runId));
  if (deleted.size === 0) return evidence;
  const isKept = (runId: string | null | undefined): boolean => !runId || !deleted.has(rootOf(runId));
  return {
    ...evidence,
    asked: evidence.asked.filter(({ runId }) => isKept(runId)),
    viewings: evidence.viewings.filter(({ runId }) => isKept(runId)),
    records: evidence.records.filter(({ headers }) => isKept(headers['ce_runid'])),
  };
}

/** Check 9: nobody is shown anything of a deleted run, and no store keeps a word of it. */
export function checkDeleted({ evidence }: Case): readonly Finding[] {
  const { deleted = [], told } = evidence;
  return deleted.flatMap(({ runId, at, left }) => [
    ...left.map((place) => finding(runId, `It was deleted, and is still in ${place}.`)),
    ...(told?.deliveries ?? [])
      .filter((delivery) => delivery.runId === runId && delivery.at > at + lateMs)
      .map((delivery) => finding(runId, `Its end was delivered ${delivery.at - at} ms after it was deleted.`)),
  ]);
}
