import type { StreamEntry } from '@conclave/contracts';
import type { Finding } from '../evidence/evidence.js';
import { findingOf, type Case } from './case.js';
import { terminalEvents } from './terminal-events.js';

const finding = findingOf('stream-without-gaps');

interface Shown {
  readonly attempt: number;
  readonly text: string;
}

/** The text of each task and the end of the run, according to a stream read from its beginning. */
export function textFindings(of: Case, runId: string, entries: readonly StreamEntry[]): readonly Finding[] {
  const shown = new Map<string, Shown>();
  const findings = entries.flatMap((entry) => {
    const wrong = follow(shown, entry);
    return wrong === null ? [] : [finding(`${runId}#${entry.id}`, wrong)];
  });
  return [...findings, ...endFindings(of, runId, entries, shown)];
}

/** Adds one entry; returns what is wrong with it. */
function follow(shown: Map<string, Shown>, entry: StreamEntry): string | null {
  if (entry.kind !== 'chunk' && entry.kind !== 'progress' && entry.kind !== 'superseded') return null;
  const { taskId, attempt } = entry;
  const before = shown.get(taskId) ?? { attempt: 0, text: '' };
  if (entry.kind === 'superseded') {
    shown.set(taskId, { attempt, text: '' });
    if (attempt <= before.attempt) return `Attempt ${attempt} of ${taskId} supersedes attempt ${before.attempt}.`;
    return entry.discarded === before.text.length
      ? null
      : `It retracts ${entry.discarded} characters of ${taskId}; ${before.text.length} were shown.`;
  }
  if (attempt < before.attempt) return `It belongs to attempt ${attempt} of ${taskId}, after attempt ${before.attempt} took over.`;
  const isNew = attempt > before.attempt;
  const kept = isNew ? '' : before.text;
  shown.set(taskId, { attempt, text: entry.kind === 'chunk' ? kept + entry.text : kept });
  if (isNew && before.text !== '')
    return `Attempt ${attempt} of ${taskId} continues where attempt ${before.attempt} had shown text, and nothing marks it as superseded.`;
  if (entry.kind === 'chunk' && entry.offset !== kept.length)
    return `Its text begins at character ${entry.offset} of attempt ${attempt} of ${taskId}; ${kept.length} were shown.`;
  return null;
}

/**
 * The terminal entry matches the terminal event. If the answer is the text of a composer that streamed live, the last attempt in the
 * stream is that text from its beginning to its end: all of it is appended before the result is published.
 */
function endFindings(of: Case, runId: string, entries: readonly StreamEntry[], shown: ReadonlyMap<string, Shown>): readonly Finding[] {
  const last = entries.find((entry) => entry.kind === 'run.completed');
  const end = terminalEvents(of).get(runId)?.data;
  if (last?.kind !== 'run.completed' || !end) return [];
  const place = `${runId}#${last.id}`;
  if (last.outcome !== end.outcome || last.answer !== end.answer)
    return [finding(place, 'The terminal entry differs from the terminal event.')];
  const composing = entries.findLast((entry) => entry.kind === 'composing');
  if (composing?.kind !== 'composing' || composing.stream !== 'live' || end.answer === null) return [];
  const { taskId } = composing;
  const isItsText = of
    .events('ResultReady')
    .some(({ data }) => data.taskId === taskId && data.output?.kind === 'synthesis' && data.output.text === end.answer);
  const text = shown.get(taskId)?.text ?? '';
  if (!isItsText || text === end.answer) return [];
  const same = end.answer.startsWith(text);
  return [
    finding(
      place,
      same
        ? `The stream shows ${text.length} of ${end.answer.length} characters of the answer.`
        : 'The text in the stream is not the answer.',
    ),
  ];
}
