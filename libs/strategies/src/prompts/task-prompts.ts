import type { TaskInputDraft } from '@conclave/contracts';
import { promptMarks as marks } from '@conclave/contracts';
import { criticPrompt, gapPrompt, hintsPrompt, scorePrompt, thinkingPrompt } from './judge-prompts.js';
import { filesLength, namesOf, referencesTo } from './attached.js';
import { fitted, type Cut } from './fitting.js';
import { asData, bounded, dataRule, numberedFacts, oneLine, sections, transcript, type PromptMessage } from './quoting.js';
import { answersText, answerLength, factLength, factsText, type Input, type Overrides, unbounded } from './rendering.js';
import { promptText } from './shipped.js';

const expertFormat = `End your reply with these lines:
FINDING: your core finding in one sentence
CONFIDENCE: a number from 0 to 1
GAPS: what you could not answer, or none
REFER: another expert category that should look at it, or none`;

export const expertPrompt = (input: Input<'expert'>, promptTokens = unbounded, overrides: Overrides = {}): readonly PromptMessage[] =>
  fitted(input.conversation, promptTokens, (cut) => renderExpert(input, cut, overrides));

function renderExpert(input: Input<'expert'>, cut: Cut, overrides: Overrides): readonly PromptMessage[] {
  // Whoever writes the answer itself follows the client's system message; an adviser only knows of it.
  const final = input.final === true;
  const { attachments = [] } = input;
  return [
    {
      role: 'system',
      content: sections(
        marks.roles.expert(input.category),
        input.prompt,
        promptText('expert', overrides),
        input.marked === false ? null : expertFormat,
        dataRule,
        final && input.system ? `System message of the client:\n${input.system}` : null,
      ),
    },
    ...(final ? cut.conversation : []),
    {
      role: 'user',
      content: sections(
        !final && cut.conversation.length > 0 ? `${marks.conversation}\n${asData(transcript(cut.conversation))}` : null,
        !final && input.system ? `The client's system message, for context:\n${asData(bounded(input.system, 2_000))}` : null,
        `${marks.question} ${input.goal}`,
        `${marks.task} ${input.task}`,
        input.evidence.length > 0
          ? `${marks.evidence}\n${asData(numberedFacts(input.evidence, Math.round(factLength * cut.scale)))}`
          : `${marks.evidence} none`,
        input.previous ? `${marks.refinement.previous}\n${asData(bounded(input.previous, Math.round(answerLength * cut.scale)))}` : null,
        input.hints ? `${marks.refinement.hints}\n${asData(bounded(input.hints, 2_000))}` : null,
        attachments.length > 0 ? `Attached to the question: ${namesOf(attachments)}` : null,
      ),
      ...(attachments.length > 0
        ? { attached: referencesTo(attachments, Math.round(filesLength * cut.scale), `${input.goal}\n${input.task}`) }
        : {}),
    },
  ];
}

/** Whether the client asked for JSON, where citations and the insight block have no place. */
export const wantsJson = ({ parameters }: Pick<Input<'synthesis'>, 'parameters'>): boolean =>
  parameters.response_format !== undefined && parameters.response_format['type'] !== 'text';

export const synthesisPrompt = (input: Input<'synthesis'>, promptTokens = unbounded, overrides: Overrides = {}): readonly PromptMessage[] =>
  fitted(input.conversation, promptTokens, (cut) => renderSynthesis(input, cut, overrides));

const renderSynthesis = (input: Input<'synthesis'>, cut: Cut, overrides: Overrides): readonly PromptMessage[] => [
  {
    role: 'system',
    content: sections(
      marks.roles.composer,
      promptText(wantsJson(input) ? 'composer.json' : 'composer', overrides),
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
      factsText(input.facts, cut),
      input.answers.length > 0 ? `${marks.expertAnswers}\n${answersText(input.answers, cut)}` : null,
      input.contradictions?.length && !wantsJson(input)
        ? `${marks.contradictions}\n${asData(input.contradictions.map((line) => `- ${bounded(oneLine(line), 700)}`).join('\n'))}\nSay in the answer that they differ, and which of them the facts bear out.`
        : null,
      input.thinking ? `${marks.thinking}\n${asData(bounded(input.thinking, Math.round(answerLength * cut.scale)))}` : null,
      input.openGap
        ? `${marks.stillOpen} ${bounded(input.openGap.replace(/\s+/g, ' '), 500)} (leave this out if the facts settle it)`
        : null,
      input.failed.length > 0
        ? `${marks.failedTasks}\n${asData(input.failed.map((task) => `- ${task.capability}: ${bounded(task.task, 200)} (${bounded(task.reason, 200)})`).join('\n'))}`
        : null,
    ),
  },
];

/** Input of a task that is answered by a model. */
export type ModelInput = Extract<TaskInputDraft, { kind: 'expert' | 'gap' | 'synthesis' | 'thinking' | 'hints' | 'score' | 'critic' }>;

const modelKinds: ReadonlySet<string> = new Set(['expert', 'gap', 'synthesis', 'thinking', 'hints', 'score', 'critic']);
export const isModelInput = (input: TaskInputDraft): input is ModelInput => modelKinds.has(input.kind);

/** Messages for a task that is answered by a model. */
export function taskPrompt(input: ModelInput, promptTokens = unbounded, overrides: Overrides = {}): readonly PromptMessage[] {
  switch (input.kind) {
    case 'expert':
      return expertPrompt(input, promptTokens, overrides);
    case 'gap':
      return gapPrompt(input, promptTokens, overrides);
    case 'synthesis':
      return synthesisPrompt(input, promptTokens, overrides);
    case 'thinking':
      return thinkingPrompt(input, promptTokens, overrides);
    case 'hints':
      return hintsPrompt(input, promptTokens, overrides);
    case 'score':
      return scorePrompt(input, promptTokens, overrides);
    case 'critic':
      return criticPrompt(input, promptTokens, overrides);
  }
}
