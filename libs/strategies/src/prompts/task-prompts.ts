import type { TaskInput } from '@conclave/contracts';
import { promptMarks as marks } from '@conclave/contracts';
import { asData, bounded, dataRule, numberedFacts, sections, transcript, type PromptMessage } from './quoting.js';

type Input<K extends TaskInput['kind']> = Extract<TaskInput, { kind: K }>;

const expertFormat = `End your reply with these lines:
FINDING: your core finding in one sentence
CONFIDENCE: a number from 0 to 1
GAPS: what you could not answer, or none
REFER: another expert category that should look at it, or none`;

export const expertPrompt = (input: Input<'expert'>): readonly PromptMessage[] => [
  {
    role: 'system',
    content: sections(
      marks.roles.expert(input.category),
      input.prompt,
      'Answer in the language of the question. Say plainly what you do not know.',
      expertFormat,
      dataRule,
    ),
  },
  {
    role: 'user',
    content: sections(
      input.conversation.length > 0 ? `Earlier conversation:\n${asData(transcript(input.conversation))}` : null,
      input.system ? `The client's system message, for context:\n${asData(bounded(input.system, 2_000))}` : null,
      `${marks.question} ${input.goal}`,
      `${marks.task} ${input.task}`,
      input.evidence.length > 0 ? `${marks.evidence}\n${asData(numberedFacts(input.evidence))}` : `${marks.evidence} none`,
    ),
  },
];

/** The detector's question, in the exact words of moe.md, Gap detection. In evidence mode the numbered facts stand where the answer stands. */
export const gapPrompt = (input: Input<'gap'>): readonly PromptMessage[] => [
  { role: 'system', content: sections(marks.roles.assessor, dataRule) },
  {
    role: 'user',
    content: `Based on the original question and the current answer, assess completion:
${marks.gapCheck.question} ${input.question}
${marks.gapCheck.answer} ${asData(input.mode === 'answer' ? (input.draft ?? '') : numberedFacts(input.facts))}
Reply ONLY in this exact format:
COMPLETION_STATUS: COMPLETE | NEEDS_MORE_INFO
GAP: <what specific fact/calculation/document is still missing, or "none">
NEXT_FOCUS: <one concrete question/action for the next iteration>`,
  },
];

const composerRules = `Write the answer to the question from the facts and expert answers below.
- Trust in this order: tools, knowledge graph, confident experts, web and documents, unsure experts.
- Put the number of the fact in square brackets behind each statement that rests on it, like [2]. Never invent a number. Do not write a list of sources.
- Say plainly what stays open and which tasks failed, where it matters for the answer. Do not mention tasks, experts or this process otherwise.
- Answer in the language of the question.
If, and only if, the answer is a new comparison, synthesis or inference from several sources, end with this block:
${marks.insight.open}{"summary": "one sentence", "entities": ["names"], "insight_type": "comparison|synthesis|inference"}${marks.insight.close}`;

export const synthesisPrompt = (input: Input<'synthesis'>): readonly PromptMessage[] => [
  {
    role: 'system',
    content: sections(
      marks.roles.composer,
      composerRules,
      dataRule,
      `The run started on ${input.startedOn}.`,
      input.system ? `System message of the client:\n${input.system}` : null,
    ),
  },
  ...input.conversation,
  {
    role: 'user',
    content: sections(
      `${marks.question} ${input.question}`,
      input.facts.length > 0 ? `${marks.facts}\n${asData(numberedFacts(input.facts))}` : `${marks.facts} none`,
      input.answers.length > 0
        ? `${marks.expertAnswers}\n${asData(input.answers.map((answer) => `${answer.category} (confidence ${answer.confidence}): ${bounded(answer.text, 4_000)}`).join('\n\n'))}`
        : null,
      input.openGap
        ? `${marks.stillOpen} ${bounded(input.openGap.replace(/\s+/g, ' '), 500)} (leave this out if the facts settle it)`
        : null,
      input.failed.length > 0
        ? `${marks.failedTasks}\n${asData(input.failed.map((task) => `- ${task.capability}: ${bounded(task.task, 200)} (${bounded(task.reason, 200)})`).join('\n'))}`
        : null,
    ),
  },
];

/** Messages for a task that is answered by a model. */
export function taskPrompt(input: Exclude<TaskInput, { kind: 'research' }>): readonly PromptMessage[] {
  switch (input.kind) {
    case 'expert':
      return expertPrompt(input);
    case 'gap':
      return gapPrompt(input);
    case 'synthesis':
      return synthesisPrompt(input);
  }
}
