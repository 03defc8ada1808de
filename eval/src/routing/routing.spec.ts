import { describe, expect, it } from '@jest/globals';
import { confusionOf } from './confusion.js';
import { labelledPrompts, type LabelledPrompt } from './prompts/labelled-prompt.js';
import { levels } from './prompts/written.js';
import { printMatrix, routingTargets } from './routing-report.js';

describe('the labelled prompts', () => {
  it('are enough, and the same number in each language, level and half', () => {
    expect(labelledPrompts.length).toBeGreaterThanOrEqual(120);
    const cells = new Map<string, number>();
    for (const { language, level, half } of labelledPrompts) {
      const cell = `${language} ${level} ${half}`;
      cells.set(cell, (cells.get(cell) ?? 0) + 1);
    }
    expect(cells.size).toBe(12);
    expect(new Set(cells.values()).size).toBe(1);
  });

  it('are all different', () => {
    expect(new Set(labelledPrompts.map(({ text, hasHistory }) => `${text.toLowerCase()} ${hasHistory}`)).size).toBe(labelledPrompts.length);
  });
});

describe('routing by complexity', () => {
  it('meets its targets on the regression half, whose words the rules know', () => {
    const confusion = confusionOf(labelledPrompts.filter(({ half }) => half === 'regression'));
    process.stderr.write(`${printMatrix(confusion).join('\n')}\n`);
    expect(confusion.macroF1).toBeGreaterThanOrEqual(routingTargets.macroF1);
    expect(confusion.complexAsTrivial).toBeLessThanOrEqual(routingTargets.complexAsTrivial);
  });

  it('is measured by figures that a wrong decision changes', () => {
    const prompt = (level: LabelledPrompt['level']): LabelledPrompt => ({
      text: level,
      level,
      language: 'en',
      half: 'regression',
      hasHistory: false,
      hasAttachments: false,
    });
    const set = levels.flatMap((level) => [prompt(level), prompt(level)]);
    expect(confusionOf(set, ({ level }) => level)).toMatchObject({ macroF1: 1, complexAsTrivial: 0, prompts: 6 });
    const always = confusionOf(set, () => 'trivial');
    expect(always.complexAsTrivial).toBe(1);
    // Precision 2/6 and recall 1 make 1/2 for one level; the other two count as 0.
    expect(always.macroF1).toBeCloseTo(1 / 6);
  });
});
