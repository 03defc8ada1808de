import { promptMarks as marks } from '@conclave/contracts';
import { filesLength, namesOf, referencesTo, systemExcerpt } from './attached.js';
import { fitted, type Cut } from './fitting.js';
import {
  asData,
  bounded,
  dataRule,
  factLengths,
  languageLine,
  numberedFacts,
  sections,
  todayLine,
  transcript,
  type PromptMessage,
} from './quoting.js';
import { answerLength, type Input, type Overrides, unbounded } from './rendering.js';
import { promptText } from './shipped.js';

const expertFormat = `End your reply with these lines:
FINDING: your core finding in one sentence
CONFIDENCE: a number from 0 to 1
GAPS: what you could not answer, or none
REFER: another expert category that should look at it, or none`;

export const expertPrompt = (input: Input<'expert'>, promptTokens = unbounded, overrides: Overrides = {}): readonly PromptMessage[] =>
  fitted(input.conversation, promptTokens, (cut) => renderExpert(input, cut, overrides));

function renderExpert(input: Input<'expert'>, cut: Cut, overrides: Overrides): readonly PromptMessage[] {
  // An expert that writes the final answer follows the client's system message; others only see it.
  const final = input.final === true;
  const { attachments = [] } = input;
  const user = sections(
    !final && cut.conversation.length > 0 ? `${marks.conversation}\n${asData(transcript(cut.conversation))}` : null,
    !final && input.system
      ? `The client's system message, for context:\n${asData(systemExcerpt(input.system, `${input.goal}\n${input.task}`, cut.scale))}`
      : null,
    `${marks.question} ${input.goal}`,
    `${marks.task} ${input.task}`,
    input.evidence.length > 0 ? `${marks.evidence}\n${asData(numberedFacts(input.evidence, factLengths(cut.scale)))}` : null,
    input.previous ? `${marks.refinement.previous}\n${asData(bounded(input.previous, Math.round(answerLength * cut.scale)))}` : null,
    input.hints ? `${marks.refinement.hints}\n${asData(bounded(input.hints, 2_000))}` : null,
    attachments.length > 0 ? `Attached to the question: ${namesOf(attachments)}` : null,
    languageLine(input.language, input.goal, input.marked === false ? 'answer' : 'marked'),
  );
  // Weak models write about evidence, and repeat the marks of quoted data, when they are told of what is not there.
  const quotesData = user.includes(marks.data.open) || attachments.length > 0;
  return [
    {
      role: 'system',
      content: sections(
        marks.roles.expert(input.category),
        input.prompt,
        promptText('expert', overrides),
        input.marked === false ? null : expertFormat,
        quotesData ? dataRule : null,
        input.startedOn === undefined ? null : todayLine(input.startedOn),
        final && input.system ? `System message of the client:\n${input.system}` : null,
      ),
    },
    ...(final ? cut.conversation : []),
    {
      role: 'user',
      content: user,
      ...(attachments.length > 0
        ? { attached: referencesTo(attachments, Math.round(filesLength * cut.scale), `${input.goal}\n${input.task}`) }
        : {}),
    },
  ];
}
