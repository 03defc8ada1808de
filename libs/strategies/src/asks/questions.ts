import { counted, type TaskOutput } from '@conclave/contracts';
import type { AnyQuestion, JudgeQuestion } from './asked-judge.js';
import { criticAsk } from './critic.js';
import { gapAsk } from './gap.js';
import { hintsAsk } from './hints.js';
import { scoreAsk } from './score.js';
import { synthesisAsk } from './synthesis.js';
import { thinkingAsk } from './thinking.js';

const listed = (categories: readonly string[]): string => categories.map((category) => category.replaceAll('_', ' ')).join(', ');

const verdictLines = {
  confirmed: 'The review confirms the answer',
  corrected: 'The review corrects the answer',
  unparsable: 'The verdict could not be read; the answer stays',
} as const;

const of = <In, Out extends TaskOutput>(question: JudgeQuestion<In, Out>): AnyQuestion => question as unknown as AnyQuestion;

export const gapQuestion = of({
  ask: gapAsk,
  unreadable: { kind: 'assessment', assessment: { verdict: 'complete', gap: '', nextFocus: '', parsed: false } },
});

export const hintsQuestion = of({
  ask: hintsAsk,
  unreadable: { kind: 'hints', hints: {} },
  lines: {
    codes: { prompt: 'refinement.prompt', response: 'refinement.response' },
    asks: ({ answers }) => `Looks for improvements of unsure answers: ${listed(answers.map(({ category }) => category))}`,
    says: (output, { answers }) => `Experts that are asked again: ${Object.keys(output.hints).length} of ${answers.length}`,
  },
});

export const scoreQuestion = of({ ask: scoreAsk, unreadable: { kind: 'scores', scores: [] } });

export const thinkingQuestion = of({
  ask: thinkingAsk,
  unreadable: null,
  lines: {
    codes: { prompt: 'reasoning.prompt', response: 'reasoning.result' },
    asks: () => 'Thinks the question through in four steps',
    says: () => 'The four steps are done',
  },
});

export const synthesisQuestion = of({
  ask: synthesisAsk,
  unreadable: null,
  lines: {
    codes: { prompt: 'merger.prompt', response: 'merger.response' },
    asks: ({ facts, answers }) =>
      `Writes the answer from ${counted(facts.length, 'fact')}${answers.length > 0 ? ` and ${counted(answers.length, 'answer')} of experts` : ''}`,
    says: ({ text, sources }) => `The answer is written: ${counted(text.length, 'character')}, ${counted(sources.length, 'citation')}`,
  },
  result: ({ sources, ...output }) => ({ status: 'ok', output, sources }),
});

export const criticQuestion = of({
  ask: criticAsk,
  unreadable: { kind: 'critique', verdict: 'unparsable', reasons: [], text: null },
  lines: {
    codes: { prompt: 'critic.prompt', response: 'critic.response' },
    asks: ({ categories }) => `Reviews the answer (${listed(categories)})`,
    says: ({ verdict }) => verdictLines[verdict],
  },
});
