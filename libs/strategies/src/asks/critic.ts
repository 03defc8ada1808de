import { promptMarks as marks, type TaskInput, type TaskOutput } from '@conclave/contracts';
import * as z from 'zod';
import { answerWords } from '../answer-words/languages.js';
import { fitted } from '../prompts/fitting.js';
import { asData, bounded, dataRule, languageLine, sections } from '../prompts/quoting.js';
import { asked, factsText } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { citedSources, hasSourceList, sourceList } from '../replies/citations.js';
import { isJsonAlone } from '../replies/json-reply.js';
import { withoutMarks } from '../replies/quoting-marks.js';
import type { Ask } from './ask.js';
import { jsonForm, readJson } from './json-form.js';
import { Words } from './named-tasks.js';
import { inputOf, outputOf } from './task-schemas.js';

/** Most reasons of a review. */
const mostReasons = 10;

const form = jsonForm(
  'critic',
  z.object({ verdict: z.enum(['confirmed', 'corrected']), reasons: z.array(z.string()).max(mostReasons), answer: z.string().nullable() }),
);

/** The verdict on an answer that has not been shown yet. A corrected answer gets a new list of sources. */
export const criticAsk: Ask<Extract<TaskInput, { kind: 'critic' }>, Extract<TaskOutput, { kind: 'critique' }>> = {
  name: 'critic',
  input: inputOf('critic'),
  output: outputOf('critique'),
  // Without a readable review a possibly harmful answer would be delivered unchanged.
  reAsks: 2,
  call: {
    temperature: 0,
    json: () => form,
  },
  prompt: (input, room) =>
    fitted([], room.tokens, (cut) =>
      asked(
        sections(marks.roles.critic, promptText('critic', room.prompts, { categories: input.categories.join(', ') }), dataRule),
        sections(
          `${marks.question} ${input.question}`,
          factsText(input.facts, cut),
          `${marks.reviewed}\n${asData(input.answer)}`,
          input.system ? `The client's system message, for context:\n${asData(bounded(input.system, 2_000))}` : null,
          languageLine(input.language, input.question),
        ),
      ),
    ),
  read: (said, input) => {
    const read = readJson(said, Reply);
    if ('faults' in read) return read;
    const { verdict, answer } = read.output;
    const reasons = read.output.reasons.map((reason) => reason.trim().slice(0, 500)).filter(Boolean);
    if (verdict === 'confirmed') return { output: { kind: 'critique', verdict, reasons, text: null } };
    if (verdict !== 'corrected') return { faults: ['"verdict" must be "confirmed" or "corrected".'] };
    const corrected = answer?.trim() ?? '';
    if (corrected === '') return { faults: ['A corrected answer needs its whole text in "answer".'] };
    const text = withoutMarks(corrected, `${input.question}\n${input.answer}`);
    const listed =
      hasSourceList(text) || isJsonAlone(text) ? text : text + sourceList(citedSources(text, input.facts), answerWords(input.language));
    return { output: { kind: 'critique', verdict, reasons, text: listed } };
  },
};

const Reply = z.object({
  verdict: z.string().transform((word) => word.trim().toLowerCase()),
  reasons: z.union([z.array(Words), Words.transform((reason) => [reason])]).default([]),
  answer: z.string().nullish(),
});
