import { promptMarks as marks } from '@conclave/contracts';
import { fitted, type Cut } from './fitting.js';
import { asData, bounded, dataRule, numberedFacts, oneLine, sections, type PromptMessage } from './quoting.js';
import { answerLength, answersText, factLength, factsText, type Input, type Overrides, unbounded } from './rendering.js';
import { promptText } from './shipped.js';

const asked = (system: string | null, user: string): readonly PromptMessage[] => [
  { role: 'system', content: system ?? '' },
  { role: 'user', content: user },
];

/** The detector's question. In evidence mode the numbered facts stand where the answer stands. */
export const gapPrompt = (input: Input<'gap'>, promptTokens = unbounded, overrides: Overrides = {}): readonly PromptMessage[] =>
  fitted([], promptTokens, (cut) =>
    asked(
      sections(marks.roles.assessor, dataRule),
      promptText('gap', overrides, {
        input: input.question,
        final_response: sections(
          asData(input.mode === 'answer' ? (input.draft ?? '') : numberedFacts(input.facts, Math.round(factLength * cut.scale))),
          input.experts?.length ? `${marks.gapCheck.experts}\n${asData(input.experts.map(ownWords).join('\n'))}` : null,
        ),
      }),
    ),
  );

/** How sure an expert is of its answer, and what it could not say. */
const ownWords = ({ category, task, confidence, gaps }: NonNullable<Input<'gap'>['experts']>[number]): string =>
  `- ${category} (${bounded(oneLine(task), 160)}): confidence ${confidence}; GAPS: ${gaps.length > 0 ? bounded(gaps.map(oneLine).join('; '), 400) : 'none'}`;

/** The four steps before the answer to a complex question. */
export const thinkingPrompt = (input: Input<'thinking'>, promptTokens = unbounded, overrides: Overrides = {}): readonly PromptMessage[] =>
  fitted([], promptTokens, (cut) =>
    asked(
      sections(marks.roles.thinker, promptText('thinking', overrides), dataRule),
      sections(
        `${marks.question} ${input.question}`,
        factsText(input.facts, cut),
        input.answers.length > 0 ? `${marks.expertAnswers}\n${answersText(input.answers, cut)}` : null,
      ),
    ),
  );

export const hintsPrompt = (input: Input<'hints'>, promptTokens = unbounded, overrides: Overrides = {}): readonly PromptMessage[] =>
  fitted([], promptTokens, (cut) =>
    asked(
      sections(marks.roles.adviser, promptText('hints', overrides), dataRule),
      sections(`${marks.question} ${input.question}`, ...input.answers.map((answer) => unsureText(answer, cut))),
    ),
  );

const unsureText = ({ taskId, category, task, text, gaps }: Input<'hints'>['answers'][number], cut: Cut): string =>
  sections(
    `${marks.refinement.task} ${localOf(taskId)} (${category})`,
    asData(
      [`Task: ${task}`, `Answer: ${bounded(text, Math.round(answerLength * cut.scale))}`, gaps.length > 0 ? `Gaps: ${gaps.join('; ')}` : '']
        .filter(Boolean)
        .join('\n'),
    ),
  );

/** Which of the two is the later one is not said, and it is not always the second one: a judge that favours a place is not followed. */
export const scorePrompt = (input: Input<'score'>, promptTokens = unbounded, overrides: Overrides = {}): readonly PromptMessage[] =>
  fitted([], promptTokens, (cut) => {
    const length = Math.round(answerLength * cut.scale);
    return asked(
      sections(marks.roles.scorer, promptText('score', overrides), dataRule),
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
  });

/** Whether A is the later answer of the pair at this place. */
export const isSwapped = (index: number): boolean => index % 2 === 1;

export const criticPrompt = (input: Input<'critic'>, promptTokens = unbounded, overrides: Overrides = {}): readonly PromptMessage[] =>
  fitted([], promptTokens, (cut) =>
    asked(
      sections(marks.roles.critic, promptText('critic', overrides, { categories: input.categories.join(', ') }), dataRule),
      sections(
        `${marks.question} ${input.question}`,
        factsText(input.facts, cut),
        `${marks.reviewed}\n${asData(input.answer)}`,
        input.system ? `The client's system message, for context:\n${asData(bounded(input.system, 2_000))}` : null,
      ),
    ),
  );

const localOf = (taskId: string): string => taskId.split('/').at(-1) ?? taskId;
