import type { TaskInput } from '@conclave/contracts';
import type { AnswerWords } from '../answer-words/answer-words.js';
import { bounded, oneLine } from '../prompts/quoting.js';

type Undone = NonNullable<Extract<TaskInput, { kind: 'synthesis' }>['undone']>;

/** Most calls that the note names; the longest call and reason, in characters. */
const mostNamed = 5;
const callLength = 200;
const reasonLength = 300;

/**
 * The note below an answer about changes that failed; empty if there are none. A model may write that all is done although a call failed,
 * and whoever relies on the change must know. Calls that were never made are told apart from those that may have changed something.
 */
export function undoneNote(undone: Undone | undefined, words: AnswerWords): string {
  const all = undone ?? [];
  const unsure = all.filter(({ unsent }) => !unsent);
  const unsent = all.filter((call) => call.unsent);
  return listed(words.undone, unsure) + listed(words.notMade, unsent);
}

function listed(heading: string, calls: Undone): string {
  if (calls.length === 0) return '';
  const lines = calls
    .slice(0, mostNamed)
    .map(({ call, reason }) => `- ${bounded(oneLine(call), callLength)}: ${bounded(oneLine(reason), reasonLength)}`);
  return `\n\n${heading}\n${lines.join('\n')}${calls.length > mostNamed ? `\n- … (${calls.length - mostNamed})` : ''}`;
}
