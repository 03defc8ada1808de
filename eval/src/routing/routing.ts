import type { Evaluation } from '../evaluation.js';
import { halves, type Half } from '../halves.js';
import { confusionOf, type Confusion } from './confusion.js';
import { labelledPrompts } from './prompts/labelled-prompt.js';
import { printMatrix, routingTargets } from './routing-report.js';

/** How the complexity of labelled prompts is decided. */
export const routing: Evaluation = {
  id: 'routing',
  title: 'complexity of requests: trivial, moderate or complex, without a model',
  run() {
    const confusions = Object.fromEntries(
      halves.map((half) => [half, confusionOf(labelledPrompts.filter((prompt) => prompt.half === half))]),
    ) as Record<Half, Confusion>;
    const began = performance.now();
    confusionOf(labelledPrompts);
    const microseconds = ((performance.now() - began) * 1_000) / labelledPrompts.length;
    return Promise.resolve({
      definition: [
        `${labelledPrompts.length} prompts, as many English as German, a third for each level, labelled by the definition of the levels.`,
        'Of each level and language every second prompt is frozen: no rule was changed because of one of them.',
        'macro-F1 is the mean over the levels of the harmonic mean of precision and recall.',
      ],
      sections: [
        ...halves.map((half) => ({ title: `Half "${half}", ${confusions[half].prompts} prompts`, lines: printMatrix(confusions[half]) })),
        { title: 'Cost', lines: [`${microseconds.toFixed(0)} µs a decision, no model call`] },
      ],
      findings: [
        { what: 'macro-F1 on the frozen half', value: confusions.frozen.macroF1, target: { atLeast: routingTargets.macroF1 } },
        { what: 'share of complex prompts decided as trivial, frozen half', value: confusions.frozen.complexAsTrivial, target: { atMost: routingTargets.complexAsTrivial } },
      ],
      notes: ['The prompts come from the project that wrote the rules; prompts of strangers may be decided worse.'],
      figures: { ...confusions, microsecondsPerDecision: microseconds },
    }); // prettier-ignore
  },
};
