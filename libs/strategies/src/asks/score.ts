import { promptMarks as marks, type TaskInput, type TaskOutput } from '@conclave/contracts';
import * as z from 'zod';
import { fitted } from '../prompts/fitting.js';
import { asData, bounded, dataRule, sections } from '../prompts/quoting.js';
import { answerLength, asked, localOf } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { readConfidence } from '../replies/expert-reply.js';
import type { Ask } from './ask.js';
import { formNaming, readJson } from './json-form.js';
import { named, Words } from './named-tasks.js';
import { inputOf, outputOf } from './task-schemas.js';

type Input = Extract<TaskInput, { kind: 'score' }>;

const form = formNaming(
  'score',
  ({ pairs }: Input) => ({ names: pairs.map(({ taskId }) => localOf(taskId)), most: pairs.length }),
  (task, most) => z.object({ scores: z.array(z.object({ task, a: z.number(), b: z.number() })).max(most) }),
);

/** Compares earlier and later answers blindly. A pair without two scores gets none. */
export const scoreAsk: Ask<Input, Extract<TaskOutput, { kind: 'scores' }>> = {
  name: 'score',
  input: inputOf('score'),
  output: outputOf('scores'),
  reAsks: 1,
  call: {
    temperature: 0,
    json: form,
  },
  prompt: (input, room) =>
    fitted([], room.tokens, (cut) => {
      const length = Math.round(answerLength * cut.scale);
      return asked(
        sections(marks.roles.scorer, promptText('score', room.prompts), dataRule),
        sections(
          `${marks.question} ${input.question}`,
          ...input.pairs.map(({ taskId, category, task, before, after }, index) =>
            sections(
              `${marks.refinement.task} ${localOf(taskId)} (${category}): ${bounded(task, 500)}`,
              `A:\n${asData(bounded(isSwapped(index) ? after : before, length))}`,
              `B:\n${asData(bounded(isSwapped(index) ? before : after, length))}`,
            ),
          ),
        ),
      );
    }),
  read: (said, input) => {
    const read = readJson(said, Reply, 'scores');
    if ('faults' in read) return read;
    const seen = new Set<string>();
    const scores = read.output.scores.flatMap(({ task, a, b }) => {
      const pair = named(task, input.pairs);
      if (!pair || a === undefined || b === undefined || !/\d/.test(a) || !/\d/.test(b) || seen.has(pair.taskId)) return [];
      seen.add(pair.taskId);
      const [first, second] = [readConfidence(a), readConfidence(b)];
      const swapped = isSwapped(input.pairs.indexOf(pair));
      return [{ taskId: pair.taskId, before: swapped ? second : first, after: swapped ? first : second }];
    });
    if (scores.length === 0 && read.output.scores.length > 0)
      return {
        faults: [
          `No pair that was shown has two numbers "a" and "b". The pairs are: ${input.pairs.map(({ taskId }) => localOf(taskId)).join(', ')}.`,
        ],
      };
    return { output: { kind: 'scores', scores } };
  },
};

const Reply = z.object({ scores: z.array(z.object({ task: Words, a: Words, b: Words }).partial()) });

/** Whether A is the later answer of this pair: alternates, so that a judge that favours a position has no effect. */
const isSwapped = (index: number): boolean => index % 2 === 1;
