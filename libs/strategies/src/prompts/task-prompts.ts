import type { TaskInput } from '@conclave/contracts';
import { promptMarks as marks } from '@conclave/contracts';
import { fitted, type Cut } from './fitting.js';
import { asData, bounded, dataRule, numberedFacts, sections, transcript, type PromptMessage } from './quoting.js';

type Input<K extends TaskInput['kind']> = Extract<TaskInput, { kind: K }>;

const expertFormat = `End your reply with these lines:
FINDING: your core finding in one sentence
CONFIDENCE: a number from 0 to 1
GAPS: what you could not answer, or none
REFER: another expert category that should look at it, or none`;

/** No bound where nobody says how long a prompt may be. */
const unbounded = Number.POSITIVE_INFINITY;
const factLength = 900;
const answerLength = 4_000;

export const expertPrompt = (input: Input<'expert'>, promptTokens = unbounded): readonly PromptMessage[] =>
  fitted(input.conversation, promptTokens, (cut) => renderExpert(input, cut));

const renderExpert = (input: Input<'expert'>, cut: Cut): readonly PromptMessage[] => [
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
      cut.conversation.length > 0 ? `Earlier conversation:\n${asData(transcript(cut.conversation))}` : null,
      input.system ? `The client's system message, for context:\n${asData(bounded(input.system, 2_000))}` : null,
      `${marks.question} ${input.goal}`,
      `${marks.task} ${input.task}`,
      input.evidence.length > 0
        ? `${marks.evidence}\n${asData(numberedFacts(input.evidence, Math.round(factLength * cut.scale)))}`
        : `${marks.evidence} none`,
    ),
  },
];

/** The detector's question, in the exact words of moe.md, Gap detection. In evidence mode the numbered facts stand where the answer stands. */
export const gapPrompt = (input: Input<'gap'>, promptTokens = unbounded): readonly PromptMessage[] =>
  fitted([], promptTokens, (cut) => renderGap(input, cut));

const renderGap = (input: Input<'gap'>, cut: Cut): readonly PromptMessage[] => [
  { role: 'system', content: sections(marks.roles.assessor, dataRule) },
  {
    role: 'user',
    content: `Based on the original question and the current answer, assess completion:
${marks.gapCheck.question} ${input.question}
${marks.gapCheck.answer} ${asData(input.mode === 'answer' ? (input.draft ?? '') : numberedFacts(input.facts, Math.round(factLength * cut.scale)))}
Reply ONLY in this exact format:
COMPLETION_STATUS: COMPLETE | NEEDS_MORE_INFO
GAP: <what specific fact/calculation/document is still missing, or "none">
NEXT_FOCUS: <one concrete question/action for the next iteration>`,
  },
];

/** A program reads the answer: nothing may stand in it that its format does not have. */
const jsonRules = `Write the answer to the question from the facts and expert answers below, as JSON only, in the format the client asks for.
- Trust in this order: tools, knowledge graph, confident experts, web and documents, unsure experts.
- No text before or after the JSON, no code fence, no numbers in square brackets that cite facts, no list of sources.
- What stays open is null, empty or left out, as the format allows. Never invent a value.`;

const composerRules = `Write the answer to the question from the facts and expert answers below.
- Trust in this order: tools, knowledge graph, confident experts, web and documents, unsure experts.
- Put the number of the fact in square brackets behind each statement that rests on it, like [2]. Never invent a number. Do not write a list of sources.
- Say plainly what stays open and which tasks failed, where it matters for the answer. Do not mention tasks, experts or this process otherwise.
- Answer in the language of the question.
If, and only if, the answer is a new comparison, synthesis or inference from several sources, end with this block:
${marks.insight.open}{"summary": "one sentence", "entities": ["names"], "insight_type": "comparison|synthesis|inference"}${marks.insight.close}`;

/** Whether the client asked for JSON, where citations and the insight block have no place. */
export const wantsJson = ({ parameters }: Input<'synthesis'>): boolean =>
  parameters.response_format !== undefined && parameters.response_format['type'] !== 'text';

export const synthesisPrompt = (input: Input<'synthesis'>, promptTokens = unbounded): readonly PromptMessage[] =>
  fitted(input.conversation, promptTokens, (cut) => renderSynthesis(input, cut));

const renderSynthesis = (input: Input<'synthesis'>, cut: Cut): readonly PromptMessage[] => [
  {
    role: 'system',
    content: sections(
      marks.roles.composer,
      wantsJson(input) ? jsonRules : composerRules,
      dataRule,
      `The run started on ${input.startedOn}.`,
      input.system ? `System message of the client:\n${input.system}` : null,
    ),
  },
  ...cut.conversation,
  {
    role: 'user',
    content: sections(
      `${marks.question} ${input.question}`,
      input.facts.length > 0
        ? `${marks.facts}\n${asData(numberedFacts(input.facts, Math.round(factLength * cut.scale)))}`
        : `${marks.facts} none`,
      input.answers.length > 0
        ? `${marks.expertAnswers}\n${asData(input.answers.map((answer) => `${answer.category} (confidence ${answer.confidence}): ${bounded(answer.text, Math.round(answerLength * cut.scale))}`).join('\n\n'))}`
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
export function taskPrompt(input: Exclude<TaskInput, { kind: 'research' }>, promptTokens = unbounded): readonly PromptMessage[] {
  switch (input.kind) {
    case 'expert':
      return expertPrompt(input, promptTokens);
    case 'gap':
      return gapPrompt(input, promptTokens);
    case 'synthesis':
      return synthesisPrompt(input, promptTokens);
  }
}
