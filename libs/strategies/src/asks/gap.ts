import { promptMarks as marks, type TaskInput, type TaskOutput } from '@conclave/contracts';
import * as z from 'zod';
import { fitted } from '../prompts/fitting.js';
import { asData, bounded, dataRule, factLengths, numberedFacts, oneLine, sections } from '../prompts/quoting.js';
import { asked } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { readGap } from '../replies/gap-reply.js';
import type { Ask } from './ask.js';
import { jsonForm } from './json-form.js';
import { inputOf, outputOf } from './task-schemas.js';

type Input = Extract<TaskInput, { kind: 'gap' }>;

/**
 * Without this form weak models copy the line `COMPLETE | NEEDS_MORE_INFO` of the prompt, which is no verdict. The gap comes first, so
 * that the verdict follows from it.
 */
const form = jsonForm(
  'gap',
  z.strictObject({ GAP: z.string(), COMPLETION_STATUS: z.enum(['COMPLETE', 'NEEDS_MORE_INFO']), NEXT_FOCUS: z.string() }),
);

/** The gap detector's question, asked once. In evidence mode the numbered facts replace the answer. */
export const gapAsk: Ask<Input, Extract<TaskOutput, { kind: 'assessment' }>> = {
  name: 'gap',
  input: inputOf('gap'),
  output: outputOf('assessment'),
  reAsks: 0,
  call: { temperature: 0, json: () => form },
  prompt: (input, room) =>
    fitted([], room.tokens, (cut) =>
      asked(
        sections(marks.roles.assessor, dataRule),
        promptText('gap', room.prompts, {
          input: input.question,
          final_response: sections(
            asData(input.mode === 'answer' ? (input.draft ?? '') : numberedFacts(input.facts, factLengths(cut.scale))),
            input.experts?.length ? `${marks.gapCheck.experts}\n${asData(input.experts.map(ownWords).join('\n'))}` : null,
          ),
        }),
      ),
    ),
  read: ({ text }) => {
    const assessment = readGap(text);
    return assessment.parsed
      ? { output: { kind: 'assessment', assessment } }
      : { faults: ['The reply gives no verdict, or contradicts its own.'] };
  },
};

/** An expert's confidence in its answer, its gaps, and the beginning of the answer. */
const ownWords = ({ category, task, confidence, gaps, answer }: NonNullable<Input['experts']>[number]): string =>
  `- ${category} (${bounded(oneLine(task), 160)}): confidence ${confidence}; GAPS: ${gaps.length > 0 ? bounded(gaps.map(oneLine).join('; '), 400) : 'none'}` +
  (answer === undefined ? '' : `; ANSWER: ${answer}`);
