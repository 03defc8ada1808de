import { isDeepStrictEqual } from 'node:util';
import { isTerminal, type Snapshot, type StreamEntry } from '@conclave/contracts';
import type { Finding, Viewing } from '../evidence/evidence.js';
import { findingOf, push, type Case } from './case.js';
import { textFindings } from './stream-text.js';
import { terminalEvents } from './terminal-events.js';

const finding = findingOf('stream-without-gaps');

/**
 * Check 5: the entries that a viewer collected over its connections are dense and rising, viewers agree, nothing follows the end, and
 * superseded attempts are marked.
 */
export function checkStreams(of: Case): readonly Finding[] {
  const viewers = new Map<string, Viewing[]>();
  for (const viewing of of.evidence.viewings) push(viewers, `${viewing.viewer} ${viewing.runId}`, viewing);
  const entries = new Map<string, Map<number, StreamEntry>>();
  const ended = terminalEvents(of);
  return [
    ...[...viewers.values()].flatMap((connections) =>
      viewerFindings(
        [...connections].sort((a, b) => a.connection - b.connection),
        of.bounds.streamsAnewAbove,
        ended.has(connections[0]!.runId),
      ),
    ),
    ...of.evidence.viewings.flatMap((viewing) => disagreements(viewing, entries)),
    ...[...entries].flatMap(([runId, known]) => textFindings(of, runId, fromTheBeginning(known))),
  ];
}

const place = (runId: string, id: number): string => `${runId}#${id}`;
const isSnapshot = (entry: StreamEntry | Snapshot): entry is Snapshot => entry.kind === 'snapshot';
/** A viewer may keep snapshots among its entries. */
const entriesOf = ({ entries }: Viewing): readonly (StreamEntry | Snapshot)[] => entries;

function viewerFindings(connections: readonly Viewing[], anewAbove: number | undefined, isOver: boolean): readonly Finding[] {
  let seen = connections[0]!.lastEventId;
  const found = connections.flatMap((connection) => {
    const { runId, viewer, lastEventId } = connection;
    const holes =
      lastEventId > seen ? [finding(place(runId, seen + 1), `${viewer} resumed after ${lastEventId} and never received it.`)] : [];
    const found = connectionFindings(connection, anewAbove);
    seen = Math.max(seen, ...entriesOf(connection).map((entry) => (isSnapshot(entry) ? entry.last : entry.id)));
    return [...holes, ...found];
  });
  return [...found, ...(isOver ? endlessFindings(connections, seen) : [])];
}

/** For an ended run: a reader that reconnected twice at the end and received nothing has missed the end. Once may be due to a stopping gateway. */
function endlessFindings(connections: readonly Viewing[], seen: number): readonly Finding[] {
  const { runId, viewer } = connections[0]!;
  const sawEnd = connections.some((connection) => connection.entries.some(isTerminal));
  const lastTwo = connections.slice(-2);
  if (sawEnd || lastTwo.length < 2 || lastTwo.some(({ entries }) => entries.length > 0)) return [];
  return [finding(place(runId, seen + 1), `${viewer} reconnected ${connections.length - 1} times and was never shown the end of its run.`)];
}

/**
 * Entries of one connection: the one after the last known, then each the next. A snapshot replaces everything up to its last id; a rebuilt
 * stream starts again above `anewAbove`.
 */
function connectionFindings(viewing: Viewing, anewAbove = Infinity): readonly Finding[] {
  const { runId, viewer, connection, lastEventId } = viewing;
  const findings: Finding[] = [];
  const where = `connection ${connection} of ${viewer}`;
  let next = lastEventId + 1;
  let snapshot: Snapshot | null = null;
  let ended: number | null = null;
  for (const entry of entriesOf(viewing)) {
    if (isSnapshot(entry)) {
      snapshot = entry;
      continue;
    }
    // After a snapshot, a finished stream repeats its last entry.
    const isAnew = entry.id > next && (entry.id - 1) % anewAbove === 0;
    const isNext = entry.id === next || isAnew || (snapshot !== null && entry.id >= snapshot.first && entry.id <= snapshot.last + 1);
    if (ended !== null) findings.push(finding(place(runId, entry.id), `It follows the terminal entry ${ended} on ${where}.`));
    else if (!isNext && entry.id > next)
      findings.push(finding(place(runId, next), `Entries ${next} to ${entry.id - 1} are missing on ${where}.`));
    else if (!isNext) findings.push(finding(place(runId, entry.id), `It arrived where ${next} was expected on ${where}.`));
    snapshot = null;
    next = entry.id + 1;
    if (isTerminal(entry)) ended = entry.id;
  }
  return findings;
}

/** Every id of a run has one body, for every reader and at every time. */
function disagreements(viewing: Viewing, runs: Map<string, Map<number, StreamEntry>>): readonly Finding[] {
  const { runId, viewer } = viewing;
  const known = runs.get(runId) ?? new Map<number, StreamEntry>();
  runs.set(runId, known);
  return entriesOf(viewing).flatMap((entry) => {
    if (isSnapshot(entry)) return [];
    const first = known.get(entry.id);
    if (!first) known.set(entry.id, entry);
    if (!first || isDeepStrictEqual(first, entry)) return [];
    return [finding(place(runId, entry.id), `${viewer} saw a different body than was seen before (${entry.kind}, ${first.kind}).`)];
  });
}

/** The known entries of a stream from entry 1 up to the first gap. */
function fromTheBeginning(known: ReadonlyMap<number, StreamEntry>): readonly StreamEntry[] {
  const entries: StreamEntry[] = [];
  for (let entry = known.get(1); entry; entry = known.get(entry.id + 1)) entries.push(entry);
  return entries;
}
