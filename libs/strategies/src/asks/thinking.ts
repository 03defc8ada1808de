import { promptMarks as marks, type TaskInput, type TaskOutput } from '@conclave/contracts';
import { fitted } from '../prompts/fitting.js';
import { dataRule, sections } from '../prompts/quoting.js';
import { answersText, asked, factsText } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import type { Ask } from './ask.js';
import { inputOf, outputOf } from './task-schemas.js';

/** The four steps before the answer to a complex question. */
export const thinkingAsk: Ask<Extract<TaskInput, { kind: 'thinking' }>, Extract<TaskOutput, { kind: 'thinking' }>> = {
  name: 'thinking',
  input: inputOf('thinking'),
  output: outputOf('thinking'),
  reAsks: 1,
  prompt: (input, room) =>
    fitted([], room.tokens, (cut) =>
      asked(
        sections(marks.roles.thinker, promptText('thinking', room.prompts), dataRule),
        sections(
          `${marks.question} ${input.question}`,
          factsText(input.facts, cut),
          input.answers.length > 0 ? `${marks.expertAnswers}\n${answersText(input.answers, cut)}` : null,
        ),
      ),
    ),
  read: (said) => {
    const text = said.text.trim();
    return text === '' ? { faults: ['The reply is empty.'] } : { output: { kind: 'thinking', text } };
  },
};
