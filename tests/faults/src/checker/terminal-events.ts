import { isDeepStrictEqual } from 'node:util';
import type { RunCompleted } from '@conclave/contracts';
import type { Finding } from '../evidence/evidence.js';
import { findingOf, push, type Case, type LoggedEvent } from './case.js';

const finding = findingOf('one-terminal-event');
const unknown = findingOf('enough-succeeded');

/**
 * Every accepted run with the time of its acceptance in milliseconds since 1970. A run is accepted if a gateway said so to a client, or
 * if its request is on the log; an ask whose outcome is unknown counts only in the second case.
 */
export function acceptedRuns({ evidence, events }: Pick<Case, 'evidence'> & { events: Case['events'] }): ReadonlyMap<string, number> {
  const accepted = new Map<string, number>();
  const add = (runId: string, at: number): void => void accepted.set(runId, Math.min(at, accepted.get(runId) ?? Infinity));
  for (const { runId, data } of events('PlanRequested')) add(runId, data.requestedAt);
  for (const { runId, acceptedAt } of evidence.asked) if (runId !== null) add(runId, acceptedAt ?? Infinity);
  return accepted;
}

/** First terminal event of every run. */
export function terminalEvents(of: Case): ReadonlyMap<string, LoggedEvent<RunCompleted['data']>> {
  const ends = new Map<string, LoggedEvent<RunCompleted['data']>>();
  for (const end of of.events('RunCompleted')) {
    const known = ends.get(end.runId);
    if (!known || end.record.appendedAt < known.record.appendedAt) ends.set(end.runId, end);
  }
  return ends;
}

/**
 * Check 1: every accepted run has exactly one terminal event, in time; nothing else has one. A run whose time limit has not passed is neither
 * a finding nor a success.
 */
export function checkTerminalEvents(of: Case): readonly Finding[] {
  const accepted = acceptedRuns({ evidence: of.evidence, events: (type) => of.events(type) });
  const ends = new Map<string, LoggedEvent<RunCompleted['data']>[]>();
  for (const end of of.events('RunCompleted')) push(ends, end.runId, end);
  return [
    ...[...accepted].flatMap(([runId, at]) => missingOrLate(of, runId, at, ends.get(runId) ?? [])),
    ...[...ends].flatMap(([runId, all]) => [
      ...contradictions(runId, all),
      ...(accepted.has(runId) ? [] : [finding(runId, 'It has a terminal event although nobody asked for it.')]),
      ...unexplainedEnd(of, runId, all[0]!),
    ]),
  ];
}

function missingOrLate(
  of: Case,
  runId: string,
  acceptedAt: number,
  ends: readonly LoggedEvent<RunCompleted['data']>[],
): readonly Finding[] {
  if (ends.length === 0)
    return of.wasWaitedFor(acceptedAt)
      ? [finding(runId, 'It was accepted and has no terminal event.')]
      : [unknown(runId, `It had no terminal event, but nobody had waited for its bound of ${of.bounds.terminalMs} ms: unknown.`)];
  const endedAt = Math.min(...ends.map(({ record }) => record.appendedAt));
  const since = Math.max(acceptedAt === Infinity ? endedAt : acceptedAt, ...faultTimes(of).filter((at) => at <= endedAt));
  const { terminalMs } = of.bounds;
  if (endedAt - since <= terminalMs) return [];
  return [
    finding(runId, `Its terminal event came ${endedAt - since} ms after its acceptance or the last fault; the bound is ${terminalMs} ms.`),
  ];
}

/** Deaths, and other faults that a scenario recorded (lines `fault`, each at its time). */
const faultTimes = (of: Case): readonly number[] => [...of.evidence.deaths, ...of.lines('fault')].map(({ at }) => at);

function contradictions(runId: string, [first, ...more]: readonly LoggedEvent<RunCompleted['data']>[]): readonly Finding[] {
  const others = more.filter(({ id, data }) => id !== first!.id || !isDeepStrictEqual(data, first!.data));
  if (others.length === 0) return [];
  const named = [...new Set([first!, ...others].map(({ id, data }) => `${id} (${data.outcome})`))];
  return [finding(runId, `It has ${1 + others.length} terminal events that differ: ${named.join(', ')}.`)];
}

/** An end that was not requested, and that no injected fault explains, is a lost question, even though there is a terminal event. */
function unexplainedEnd(of: Case, runId: string, { data }: LoggedEvent<RunCompleted['data']>): readonly Finding[] {
  const { outcome, answer } = data;
  if (outcome !== 'failed' && outcome !== 'cancelled')
    return answer === null ? [finding(runId, `It ended ${outcome} without an answer.`)] : [];
  if (of.bounds.mayFail.includes(runId)) return [];
  if (data.reasonCode === 'aborted')
    return [finding(runId, `It was aborted by a dead letter that the scenario did not cause: ${data.reason}`)];
  if (outcome === 'cancelled' && !wasCancelled(of, runId)) return [finding(runId, 'It was cancelled although nobody cancelled it.')];
  return [];
}

function wasCancelled(of: Case, runId: string): boolean {
  const commanded = of.events('CommandIssued').some((event) => event.runId === runId && event.data.command.name === 'cancel');
  // A gateway sets the flag before its command is on the log; the engine may see the flag first.
  return (
    commanded ||
    of.evidence.history.some(
      ({ op, phase, id }) => id === runId && ((op === 'client' && phase === 'left') || (op === 'run' && phase === 'cancelled')),
    )
  );
}
