import type { TaskOutput } from '@conclave/contracts';
import type { Calls, Capability, ShownIn } from '@conclave/calls';
import { criticAsk, gapAsk, hintsAsk, scoreAsk, synthesisAsk, thinkingAsk } from '@conclave/strategies';
import { judgeCapability, type Judge } from './judge.capability.js';

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
const listed = (categories: readonly string[]): string => categories.map((category) => category.replaceAll('_', ' ')).join(', ');

const verdictLines = {
  confirmed: 'The review confirms the answer',
  corrected: 'The review corrects the answer',
  unparsable: 'The verdict could not be read; the answer stays',
} as const;

const of = <In, Out extends TaskOutput>(judge: Judge<In, Out>): Judge<In, Out> => judge;

const gap = of({
  ask: gapAsk,
  unreadable: { kind: 'assessment', assessment: { verdict: 'complete', gap: '', nextFocus: '', parsed: false } },
});

const hints = of({
  ask: hintsAsk,
  unreadable: { kind: 'hints', hints: {} },
  lines: {
    codes: { prompt: 'refinement.prompt', response: 'refinement.response' },
    asks: ({ answers }) => `Looks for what could be done better: ${listed(answers.map(({ category }) => category))}`,
    says: (output, { answers }) => `Experts that are asked again: ${Object.keys(output.hints).length} of ${answers.length}`,
  },
});

const score = of({ ask: scoreAsk, unreadable: { kind: 'scores', scores: [] } });

const thinking = of({
  ask: thinkingAsk,
  unreadable: null,
  lines: {
    codes: { prompt: 'reasoning.prompt', response: 'reasoning.result' },
    asks: () => 'Thinks the question through in four steps',
    says: () => 'Has thought it through',
  },
});

const synthesis = of({
  ask: synthesisAsk,
  unreadable: null,
  lines: {
    codes: { prompt: 'merger.prompt', response: 'merger.response' },
    asks: ({ facts, answers }) => `Writes it from ${counted(facts.length, 'fact')} and ${counted(answers.length, 'answer')} of experts`,
    says: ({ text, sources }) => `It is written: ${counted(text.length, 'character')}, ${counted(sources.length, 'citation')}`,
  },
  result: ({ sources, ...output }) => ({ status: 'ok', output, sources }),
});

const critic = of({
  ask: criticAsk,
  unreadable: { kind: 'critique', verdict: 'unparsable', reasons: [], text: null },
  lines: {
    codes: { prompt: 'critic.prompt', response: 'critic.response' },
    asks: ({ categories }) => `Reviews the answer (${listed(categories)})`,
    says: ({ verdict }) => verdictLines[verdict],
  },
});

/** The judges by the capability of their tasks. */
export const judgeCapabilities = (maker: Calls, stream: ShownIn): ReadonlyMap<string, Capability> =>
  new Map([
    ['judge.gap', judgeCapability(maker, stream, gap)],
    ['judge.hints', judgeCapability(maker, stream, hints)],
    ['judge.score', judgeCapability(maker, stream, score)],
    ['judge.thinking', judgeCapability(maker, stream, thinking)],
    ['judge.synthesis', judgeCapability(maker, stream, synthesis)],
    ['judge.critic', judgeCapability(maker, stream, critic)],
  ]);
