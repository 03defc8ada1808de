import { promptMarks } from '@conclave/contracts';
import { asData, bounded } from './quoting.js';

const marks = promptMarks.userInputs;
/** Characters of one input and of all of them in a prompt; the latest stay. */
const inputLength = 4_000;
const inputsLength = 8_000;

/**
 * What the user said during the run, as a section of any prompt; empty without inputs. Guidance and answers are the user's own
 * words to the committee; context is often pasted from elsewhere, and is quoted as data.
 */
export function userInputsText(inputs: readonly string[]): string {
  const lines: string[] = [];
  let length = 0;
  for (const input of [...inputs].reverse()) {
    const line = lineOf(input);
    if (lines.length > 0 && length + line.length > inputsLength) break;
    lines.unshift(line);
    length += line.length;
  }
  return lines.length === 0 ? '' : [marks.heading, ...lines, 'Follow the guidance and use the context; the latest line holds.'].join('\n');
}

function lineOf(input: string): string {
  if (input.startsWith(marks.add_context)) {
    const text = input.slice(marks.add_context.length).trim();
    return `${marks.add_context}\n${asData(bounded(text, inputLength))}`;
  }
  return bounded(input.startsWith(marks.steer) ? input : `${marks.answer} ${input}`, inputLength);
}

/** The messages with the user's inputs at the end of the last message of the user. */
export function withUserInputs<M extends { readonly role: string; readonly content: string }>(
  messages: readonly M[],
  inputs: readonly string[],
): readonly M[] {
  const text = userInputsText(inputs);
  const last = messages.findLastIndex(({ role }) => role === 'user');
  if (text === '' || last < 0) return messages;
  return messages.map((message, index) => (index === last ? { ...message, content: `${message.content}\n\n${text}` } : message));
}
