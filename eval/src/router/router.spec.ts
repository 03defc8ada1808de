import { describe, expect, it } from '@jest/globals';
import { QuestionClass } from '@conclave/strategies';
import { classFigures } from './class-figures.js';
import { labelledQuestions, type LabelledQuestion } from './labelled-question.js';
import { routerTargets } from './router.js';

describe('the labelled questions', () => {
  it('are at least 200 different ones, the same number in each class, language and half', () => {
    expect(new Set(labelledQuestions.map(({ text }) => text.toLowerCase())).size).toBeGreaterThanOrEqual(200);
    const cells = new Map<string, number>();
    for (const { language, class: named, half } of labelledQuestions) {
      const cell = `${language} ${named} ${half}`;
      cells.set(cell, (cells.get(cell) ?? 0) + 1);
    }
    expect([cells.size, new Set(cells.values()).size]).toEqual([16, 1]);
  });
});

describe('the classes of questions', () => {
  it.each(['tuning', 'regression'] as const)('are recognised often enough by the words of the %s half', (half) => {
    const figures = classFigures(labelledQuestions.filter((question) => question.half === half));
    expect(figures.macroF1).toBeGreaterThanOrEqual(routerTargets.macroF1);
    expect(figures.precisionWhereSure).toBeGreaterThanOrEqual(0.95);
  });

  it('are measured by figures that a wrong decision changes', () => {
    const questions = QuestionClass.options.map((named): LabelledQuestion => ({
      text: named,
      class: named,
      language: 'en',
      half: 'tuning',
    }));
    const right = classFigures(questions, (text) => ({ class: QuestionClass.parse(text), sure: true }));
    expect([right.macroF1, right.precisionWhereSure, right.unsure]).toEqual([1, 1, 0]);
    const wrong = classFigures(questions, () => ({ class: 'factual', sure: false }));
    expect([wrong.f1.factual, wrong.f1.comparative, wrong.unsure]).toEqual([0.4, 0, 4]);
  });
});
