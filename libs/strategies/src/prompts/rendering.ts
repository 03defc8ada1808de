import type { Fact, TaskInputDraft } from '@conclave/contracts';
import { promptMarks as marks } from '@conclave/contracts';
import type { Cut } from './fitting.js';
import { asData, bounded, factLengths, numberedFacts, type PromptMessage } from './quoting.js';

export type Input<K extends TaskInputDraft['kind']> = Extract<TaskInputDraft, { kind: K }>;
/** Prompt name -> the operator's text that replaces the shipped one. */
export type Overrides = Readonly<Record<string, string>>;

/** Token limit of a prompt without one. */
export const unbounded = Number.POSITIVE_INFINITY;
/** Characters of one answer in an uncut prompt. */
export const answerLength = 4_000;

/** A judge's messages: instructions and input. */
export const asked = (system: string, user: string): readonly PromptMessage[] => [
  { role: 'system', content: system },
  { role: 'user', content: user },
];

/** Last part of a task's id, used in prompts and replies. */
export const localOf = (taskId: string): string => taskId.split('/').at(-1) ?? taskId;

export const factsText = (facts: readonly Fact[], cut: Cut): string =>
  facts.length > 0 ? `${marks.facts}\n${asData(numberedFacts(facts, factLengths(cut.scale)))}` : `${marks.facts} none`;

/** Heading of an answer to merge. */
export const answerLabel = ({ category, confidence }: { readonly category: string; readonly confidence: number }): string =>
  `${category} (confidence ${confidence}):`;

export const answersText = (answers: Input<'synthesis'>['answers'], cut: Cut): string =>
  asData(
    answers
      .map(
        ({ category, confidence, text }) =>
          `${answerLabel({ category, confidence })} ${bounded(text, Math.round(answerLength * cut.scale))}`,
      )
      .join('\n\n'),
  );
