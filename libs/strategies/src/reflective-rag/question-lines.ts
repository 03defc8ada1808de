import { promptMarks as marks, type Fact } from '@conclave/contracts';

/** The question as the user asked it; for a follow-up also what it means. */
export const questionLines = ({ question, readsAs }: { readonly question: string; readonly readsAs: string | null }): string =>
  `${marks.question} ${question}${readsAs === null ? '' : `\nIn the conversation it means: ${readsAs}`}`;

/** Facts as prompts number them. */
export const factsFor = (facts: readonly Pick<Fact, 'text' | 'source'>[]): readonly Fact[] =>
  facts.map((fact) => ({ ...fact, taskId: '', epoch: 0, confidence: null }));
