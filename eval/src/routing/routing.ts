import type { Evaluation } from '../evaluation.js';
import { halves, type Half } from '../halves.js';
import { moods } from './committee-replies.js';
import { confusionOf, type Confusion } from './confusion.js';
import { costFindings, costSections } from './costs-report.js';
import { secondSetFindings } from './second-set.js';
import { measureLevels, sampleOf } from './level-costs.js';
import { labelledPrompts } from './prompts/labelled-prompt.js';
import { printMatrix, routingTargets } from './routing-report.js';

/** Prompts of each level and language that are sent to the product. */
const sampled = 4;

/** How the complexity of labelled prompts is decided, and what each level then costs. */
export const routing: Evaluation = {
  id: 'routing',
  title: 'complexity of requests: trivial, moderate or complex, without a model',
  async run() {
    const confusions = Object.fromEntries(
      halves.map((half) => [half, confusionOf(labelledPrompts.filter((prompt) => prompt.half === half))]),
    ) as Record<Half, Confusion>;
    const began = performance.now();
    confusionOf(labelledPrompts);
    const microseconds = ((performance.now() - began) * 1_000) / labelledPrompts.length;
    const sample = sampleOf(sampled);
    const costs = await measureLevels(sample, moods);
    return {
      definition: [
        `${labelledPrompts.length} prompts, as many English as German, a third for each level, labelled by the definition of the levels.`,
        'Of each level and language every second prompt belongs to the regression half. The rules know words of both halves: neither is unseen.',
        'A second set (several hops, plain requests, dangers) was written together with the rules that it measures, so it is not a hold-out set either.',
        `The cost of a level is measured: the embedded product answers ${sample.length} of the prompts, equally many of each level and language, with its`,
        'shipped template `conclave` and scripted models behind HTTP that plan two experts a round. Figures are those of the records of the',
        'runs, compared with the calls at the model server. A token of these models is a word. No cache answers, and each run has its own tenant,',
        'so that nothing learned from an earlier run raises its level.',
        'macro-F1 is the mean over the levels of the harmonic mean of precision and recall.',
      ],
      sections: [
        ...halves.map((half) => ({ title: `Half "${half}", ${confusions[half].prompts} prompts`, lines: printMatrix(confusions[half]) })),
        ...costSections(costs),
        { title: 'Cost of the decision itself', lines: [`${microseconds.toFixed(0)} µs a decision, no model call`] },
      ],
      findings: [
        { what: 'macro-F1 on the regression half', value: confusions.regression.macroF1, target: { atLeast: routingTargets.macroF1 } },
        {
          what: 'share of complex prompts decided as trivial, regression half',
          value: confusions.regression.complexAsTrivial,
          target: { atMost: routingTargets.complexAsTrivial },
        },
        ...secondSetFindings(),
        ...costFindings(costs),
      ],
      notes: [
        'The prompts come from the project that wrote the rules; prompts of other people may be decided worse.',
        'A second tier, a review by the critic and the tasks that a real planner adds are not included in the calls above.',
      ],
      figures: {
        ...confusions,
        microsecondsPerDecision: microseconds,
        costs: costs.map(({ prompt, ...figures }) => ({ ...figures, text: prompt.text })),
      },
    };
  },
};
