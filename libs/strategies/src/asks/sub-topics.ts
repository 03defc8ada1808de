import { promptMarks as marks, type TaskInput } from '@conclave/contracts';
import type { AnswerWords } from '../answer-words/answer-words.js';
import type { Cut } from '../prompts/fitting.js';
import { asData, bounded, oneLine } from '../prompts/quoting.js';
import { answerLength, type Overrides } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';

/** The sub-topics of a question as its composer gets them. */
export type SubTopics = NonNullable<Extract<TaskInput, { kind: 'synthesis' }>['topics']>;

/** Characters of a topic and of a failure in prompts and answers. */
const [topicLength, reasonLength] = [200, 300];

/** The sub-topics for the composer, after the instruction on how they become one answer. */
export function topicsText({ how, found, empty, failed }: SubTopics, overrides: Overrides, cut: Cut): string {
  const lines = [
    ...found.map(({ topic, facts, answer }) =>
      [
        `- ${bounded(oneLine(topic), topicLength)}: ${facts.length > 0 ? `facts ${facts.join(', ')}` : 'no facts of its own'}`,
        ...(answer === undefined ? [] : [`  Answered: ${bounded(oneLine(answer), Math.round(answerLength * cut.scale))}`]),
      ].join('\n'),
    ),
    ...empty.map((topic) => `- ${bounded(oneLine(topic), topicLength)}: nothing was found`),
    ...failed.map(({ topic }) => `- ${bounded(oneLine(topic), topicLength)}: the research failed, so nothing is known about it`),
  ];
  return `${promptText(`composer.${how}`, overrides)}\n${marks.topics}\n${asData(lines.join('\n'))}`;
}

/** The note below an answer about sub-topics without a result; empty if each has one. It says which failed and which found nothing. */
export function topicsNote(topics: Pick<SubTopics, 'empty' | 'failed'> | undefined, words: AnswerWords): string {
  if (!topics) return '';
  const { empty, failed } = topics;
  const lines = [
    ...failed.map(
      ({ topic, reason }) =>
        `- ${bounded(oneLine(topic), topicLength)}: ${words.researchFailed} (${bounded(oneLine(reason), reasonLength)})`,
    ),
    ...empty.map((topic) => `- ${bounded(oneLine(topic), topicLength)}: ${words.nothingFound}`),
  ];
  return lines.length === 0 ? '' : `\n\n${words.notCovered}\n${lines.join('\n')}`;
}
