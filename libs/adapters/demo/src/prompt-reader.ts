import { promptMarks as marks } from '@conclave/contracts';
import type { CallMessage } from '@conclave/ports';

export type Role = 'planner' | 'expert' | 'assessor' | 'composer' | 'learner' | 'other';

const systemOf = (messages: readonly CallMessage[]): string =>
  messages
    .filter(({ role }) => role === 'system')
    .map(({ content }) => content)
    .join('\n');

/** The role of a call, by the marker line of its system prompt. */
export function roleOf(messages: readonly CallMessage[]): Role {
  const lines = systemOf(messages).split('\n');
  const has = (line: string): boolean => lines.includes(line);
  const expert = marks.roles.expert('').slice(0, -1);
  if (has(marks.roles.planner)) return 'planner';
  if (has(marks.roles.assessor)) return 'assessor';
  if (has(marks.roles.composer)) return 'composer';
  if (has(marks.roles.learner)) return 'learner';
  return lines.some((line) => line.startsWith(expert)) ? 'expert' : 'other';
}

/** All text of system and user messages: parts may move between the two. */
export const promptText = (messages: readonly CallMessage[]): string =>
  [systemOf(messages), ...messages.filter(({ role }) => role === 'user').map(({ content }) => content)].join('\n');

/**
 * Passes each block of fenced data, without the line breaks at its ends, to `replaced`; an unclosed fence is ordinary text.
 * Runs in one pass: a regular expression would search the end of each opened fence again.
 */
function replaceFenced(text: string, replaced: (inner: string) => string): string {
  const { open, close } = marks.data;
  let done = '';
  let at = 0;
  for (;;) {
    const from = text.indexOf(open, at);
    const to = from < 0 ? -1 : text.indexOf(close, from + open.length);
    if (to < 0) return done + text.slice(at);
    done +=
      text.slice(at, from) +
      replaced(
        text
          .slice(from + open.length, to)
          .replace(/^\n/, '')
          .replace(/\n$/, ''),
      );
    at = to + close.length;
  }
}

const heads: readonly string[] = [
  marks.question,
  marks.conversation,
  marks.attached,
  marks.quoted,
  marks.task,
  marks.language,
  marks.evidence,
  marks.facts,
  marks.expertAnswers,
  marks.contradictions,
  marks.stillOpen,
  marks.failedTasks,
  marks.capabilities,
  marks.replan.established,
  marks.replan.unresolved,
  marks.replan.nextFocus,
  marks.replan.results,
  marks.replan.tried,
  marks.replan.instructions,
  marks.gapCheck.question,
  marks.gapCheck.answer,
  marks.gapCheck.experts,
  'Reply ONLY',
  'Budget left:',
  'These are forbidden now',
  'The question in full words:',
  "The client's system message",
];

/** Placeholder for a block of fenced data; no prompt contains it. */
// eslint-disable-next-line no-control-regex -- that is why
const placeholder = /\u0000(\d+)\u0000/g;

/**
 * Text after a mark at the beginning of a line, up to the next mark, without fences. Marks inside fenced data count as data.
 * Null if the mark does not occur.
 */
export function section(prompt: string, mark: string): string | null {
  const blocks: string[] = [];
  const outline = replaceFenced(prompt, (inner) => `\u0000${blocks.push(inner) - 1}\u0000`);
  const lines = outline.split('\n');
  const start = lines.findLastIndex((line) => line.startsWith(mark));
  if (start < 0) return null;
  const kept = [lines[start]!.slice(mark.length)];
  for (const line of lines.slice(start + 1)) {
    if (heads.some((head) => line.startsWith(head))) break;
    kept.push(line);
  }
  return kept
    .join('\n')
    .replace(placeholder, (_whole, index: string) => blocks[Number(index)] ?? '')
    .trim();
}

/** What a reply without an answer adds if the question is not in English: the reason. */
export const languageNote = (prompt: string): string =>
  section(prompt, marks.language) === null ? '' : ' The demo model reads only questions in English.';

/** `- …` lines of a section. */
export const listOf = (text: string | null): readonly string[] =>
  (text ?? '')
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .map((line) => line.slice(2).trim());
