import type { StreamEntry } from '@conclave/contracts';
import type { ServedCall } from '../index.js';

/** Calls that were made although the same question had already been answered completely, as sentences. */
export function repeatedFinished(calls: readonly ServedCall[]): readonly string[] {
  const key = (call: ServedCall): string => JSON.stringify(call.messages);
  return calls.flatMap((call) => {
    const earlier = calls.find(
      (other) => other.n < call.n && key(other) === key(call) && other.finishedAt !== null && other.finishedAt <= call.at,
    );
    return earlier ? [`Call ${call.n} (${call.step}) repeats call ${earlier.n}, which had finished.`] : [];
  });
}

/** What is wrong with the entries that a client has collected: gaps, repeats, more or fewer than one end. */
export function streamFaults(entries: readonly StreamEntry[]): readonly string[] {
  const faults = entries.flatMap((entry, index) => (entry.id === index + 1 ? [] : [`Entry ${index + 1} has the id ${entry.id}.`]));
  const ends = entries.filter((entry) => entry.kind === 'run.completed').length;
  return ends === 1 ? faults : [...faults, `${ends} terminal entries.`];
}
