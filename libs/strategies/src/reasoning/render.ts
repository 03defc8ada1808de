import { promptMarks as marks } from '@conclave/contracts';
import { asData, bounded, dataRule, languageLine, oneLine, sections, todayLine, type PromptMessage } from '../prompts/quoting.js';
import { askedBeforeLine } from '../prompts/follow-up.js';
import { asked, type Overrides } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import type { PlanInput, Seen, ReasoningStep } from './values.js';

/** A prompt of a phase: its role and instructions, what every phase sees, and its own parts. */
export const phase = (
  { role, prompt, overrides, values = {} }: { role: string; prompt: string; overrides: Overrides; values?: Record<string, string> },
  seen: Seen,
  ...parts: readonly (string | null)[]
): readonly PromptMessage[] =>
  asked(
    sections(role, promptText(prompt, overrides, values), dataRule, todayLine(seen.startedOn)),
    sections(
      `${marks.question} ${seen.goal}`,
      askedBeforeLine(seen.before ?? []),
      `${marks.workingMemory}\n${seen.memory === '' ? 'empty' : asData(seen.memory)}`,
      ...parts,
      languageLine(seen.language, seen.goal),
    ),
  );

export const stepLine = ({ capability, input_description }: ReasoningStep): string =>
  `${capability}: ${bounded(oneLine(input_description), 300)}`;

/** The results of earlier steps, shortened equally. */
export function doneText(done: PlanInput['done'], length: number): string | null {
  if (done.length === 0) return null;
  const lines = done.map(
    ({ step, status, output }) => `- ${step} -> ${status}${output === '' ? '' : `: ${bounded(oneLine(output), length)}`}`,
  );
  return `${marks.results}\n${asData(lines.join('\n'))}`;
}

export const listText = (title: string, lines: readonly string[]): string | null =>
  lines.length === 0 ? null : `${title}\n${asData(lines.map((line) => `- ${line}`).join('\n'))}`;
