import { QuestionClass } from '@conclave/strategies';
import type { Evaluation, EvaluationReport } from '../evaluation.js';
import { halves } from '../halves.js';
import { percent, table } from '../report.js';
import { classFigures, type ClassFigures } from './class-figures.js';
import { labelledQuestions } from './labelled-question.js';
import { measureRoutes, type RouteCosts } from './route-costs.js';

export const routerTargets = { macroF1: 0.85 };

/** Questions of each class and language whose runs are measured. */
const measured = 3;

/** Which strategy `adaptive` chooses for which class, and what that costs compared with the loop for all of them. */
export const router: Evaluation = { id: 'router', title: 'classes of questions, and what their routes cost', run: evaluateRouter };

async function evaluateRouter(): Promise<EvaluationReport> {
  const byHalf = halves.map((half) => ({ half, figures: classFigures(labelledQuestions.filter((question) => question.half === half)) }));
  const all = classFigures(labelledQuestions);
  const costs = await measureRoutes(measured);
  return {
    definition: [
      `${labelledQuestions.length} questions in English and German, four classes. A class is read from the words alone, even if they leave it open; no model is asked.`,
      'In use, a question whose words leave the class open costs one small model call, whose quality is not measured here.',
    ],
    sections: [
      ...byHalf.map(({ half, figures }) => ({ title: `${half} half`, lines: linesOf(figures) })),
      { title: 'cost of a run by class (means)', lines: costLines(costs) },
    ],
    findings: [
      ...byHalf.map(({ half, figures }) => ({
        what: `macro-F1, ${half} half`,
        value: figures.macroF1,
        target: { atLeast: routerTargets.macroF1 },
      })),
      { what: 'macro-F1, all', value: all.macroF1, target: { atLeast: routerTargets.macroF1 } },
    ],
    notes: [
      'The same project wrote rules, questions and labels. Rules were changed after a look at the misses of the tuning half; of the regression half only the counts were seen.',
      'Costs come from scripted replies of fixed length: they count calls, not the quality of answers. The scripted router names the labelled class.',
    ],
    figures: { halves: Object.fromEntries(byHalf.map(({ half, figures }) => [half, figures])), all, costs },
  };
}

function linesOf({ matrix, f1, macroF1, unsure, questions, precisionWhereSure }: ClassFigures): readonly string[] {
  const classes = QuestionClass.options;
  const rows = classes.map((label) => [label, ...classes.map((decision) => String(matrix[label][decision])), f1[label].toFixed(2)]);
  return [
    ...table(['label \\ decided', ...classes, 'F1'], rows),
    `macro-F1 ${macroF1.toFixed(3)}; left open ${unsure} of ${questions}; right where sure ${percent(precisionWhereSure)}`,
  ];
}

const costLines = (costs: readonly RouteCosts[]): readonly string[] =>
  table(
    ['class', 'template', 'runs', 'calls', 'tokens'],
    costs.map((one) => [one.class, one.template, String(one.runs), one.calls.toFixed(1), String(Math.round(one.tokens))]),
  );
