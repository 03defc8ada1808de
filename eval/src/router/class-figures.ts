import { QuestionClass, readClass } from '@conclave/strategies';
import type { LabelledQuestion } from './labelled-question.js';

export interface ClassFigures {
  /** `matrix[label][decision]`: counts of questions. */
  readonly matrix: Readonly<Record<QuestionClass, Readonly<Record<QuestionClass, number>>>>;
  /** F1 of each class, 0 to 1. */
  readonly f1: Readonly<Record<QuestionClass, number>>;
  readonly macroF1: number;
  /** Questions whose words leave the class open: a model is asked about those. */
  readonly unsure: number;
  /** Share of the other questions that were decided as labelled, 0 to 1. */
  readonly precisionWhereSure: number;
  readonly questions: number;
}

const classes = QuestionClass.options;

/** Figures of the classes that the words of the questions suggest, even if they leave the class open; no model is asked. */
export function classFigures(questions: readonly LabelledQuestion[], read: typeof readClass = readClass): ClassFigures {
  const decided = questions.map((question) => ({ question, ...read(question.text) }));
  const count = (label: QuestionClass, decision: QuestionClass): number =>
    decided.filter(({ question, class: named }) => question.class === label && named === decision).length;
  const row = (label: QuestionClass) => Object.fromEntries(classes.map((decision) => [decision, count(label, decision)]));
  const matrix = Object.fromEntries(classes.map((label) => [label, row(label)])) as ClassFigures['matrix'];
  const f1Of = (named: QuestionClass): number => {
    const asDecided = classes.reduce((sum, label) => sum + matrix[label][named], 0);
    const asLabelled = classes.reduce((sum, decision) => sum + matrix[named][decision], 0);
    return asDecided + asLabelled === 0 ? 0 : (2 * matrix[named][named]) / (asDecided + asLabelled);
  };
  const f1 = Object.fromEntries(classes.map((named) => [named, f1Of(named)])) as ClassFigures['f1'];
  const sure = decided.filter((one) => one.sure);
  return {
    matrix,
    f1,
    macroF1: classes.reduce((sum, named) => sum + f1[named], 0) / classes.length,
    unsure: decided.length - sure.length,
    precisionWhereSure: sure.length === 0 ? 0 : sure.filter((one) => one.class === one.question.class).length / sure.length,
    questions: questions.length,
  };
}
