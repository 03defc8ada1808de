import { promptMarks as marks, type TaskInput, type TaskOutput } from '@conclave/contracts';
import * as z from 'zod';
import { isEcho } from '../prompts/echoes.js';
import { fitted, type Cut } from '../prompts/fitting.js';
import { asData, bounded, dataRule, sections } from '../prompts/quoting.js';
import { answerLength, asked, localOf } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import type { Ask } from './ask.js';
import { formNaming, readJson } from './json-form.js';
import { named, Words } from './named-tasks.js';
import { inputOf, outputOf } from './task-schemas.js';

type Input = Extract<TaskInput, { kind: 'hints' }>;

/** Longest hint, in characters. */
const longestHint = 1_000;

const form = formNaming(
  'hints',
  ({ answers }: Input) => ({ names: answers.map(({ taskId }) => localOf(taskId)), most: answers.length }),
  (task, most) => z.object({ hints: z.array(z.object({ task, hint: z.string() })).max(most) }),
);

/** Hints for unsure experts. Hints for other tasks are dropped. */
export const hintsAsk: Ask<Input, Extract<TaskOutput, { kind: 'hints' }>> = {
  name: 'hints',
  input: inputOf('hints'),
  output: outputOf('hints'),
  reAsks: 1,
  call: { temperature: 0, json: form },
  prompt: (input, room) =>
    fitted([], room.tokens, (cut) =>
      asked(
        sections(marks.roles.adviser, promptText('hints', room.prompts), dataRule),
        sections(`${marks.question} ${input.question}`, ...input.answers.map((answer) => unsureText(answer, cut))),
      ),
    ),
  read: (said, input) => {
    const read = readJson(said, Reply, 'hints');
    if ('faults' in read) return read;
    const found = read.output.hints.flatMap(({ task, hint }) => {
      const answer = named(task, input.answers);
      const words = hint?.trim().slice(0, longestHint) ?? '';
      return answer ? [[answer.taskId, isEcho(words) ? '' : words] as const] : [];
    });
    if (found.length === 0 && read.output.hints.length > 0)
      return {
        faults: [`No hint names a task that was shown. They are: ${input.answers.map(({ taskId }) => localOf(taskId)).join(', ')}.`],
      };
    return { output: { kind: 'hints', hints: Object.fromEntries(found.filter(([, hint]) => hint !== '')) } };
  },
};

const Reply = z.object({ hints: z.array(z.object({ task: Words, hint: z.string() }).partial()) });

const unsureText = ({ taskId, category, task, text, gaps }: Input['answers'][number], cut: Cut): string =>
  sections(
    `${marks.refinement.task} ${localOf(taskId)} (${category})`,
    asData(
      [`Task: ${task}`, `Answer: ${bounded(text, Math.round(answerLength * cut.scale))}`, gaps.length > 0 ? `Gaps: ${gaps.join('; ')}` : '']
        .filter(Boolean)
        .join('\n'),
    ),
  );
