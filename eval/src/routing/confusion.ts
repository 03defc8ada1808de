import { complexityOf } from '@conclave/questions';
import { type LabelledPrompt } from './prompts/labelled-prompt.js';
import { levels, type Level } from './prompts/written.js';

export interface LevelFigures {
  readonly level: Level;
  /** 0 to 1: the share of prompts decided as this level that are labelled so. 0 if there were none. */
  readonly precision: number;
  /** 0 to 1: the share of prompts labelled as this level that were decided so. 0 if there are none. */
  readonly recall: number;
  /** Harmonic mean of both. */
  readonly f1: number;
}

export interface Confusion {
  /** `matrix[label][decision]`: counts of prompts. */
  readonly matrix: Readonly<Record<Level, Readonly<Record<Level, number>>>>;
  readonly perLevel: readonly LevelFigures[];
  /** Mean of the F1 of all levels. */
  readonly macroF1: number;
  /** Share of complex prompts that were decided as trivial, 0 to 1. */
  readonly complexAsTrivial: number;
  readonly prompts: number;
}

export const decide = (prompt: Pick<LabelledPrompt, 'text' | 'hasHistory' | 'hasAttachments'>): Level =>
  complexityOf(prompt.text, { hasHistory: prompt.hasHistory, hasAttachments: prompt.hasAttachments }).level;

export function confusionOf(prompts: readonly LabelledPrompt[], decided: (prompt: LabelledPrompt) => Level = decide): Confusion {
  const matrix = Object.fromEntries(levels.map((label) => [label, { trivial: 0, moderate: 0, complex: 0 }])) as Record<
    Level,
    Record<Level, number>
  >;
  for (const prompt of prompts) matrix[prompt.level][decided(prompt)] += 1;
  const perLevel = levels.map((level) => {
    const hits = matrix[level][level];
    const asDecided = levels.reduce((sum, label) => sum + matrix[label][level], 0);
    const asLabelled = levels.reduce((sum, decision) => sum + matrix[level][decision], 0);
    const precision = asDecided === 0 ? 0 : hits / asDecided;
    const recall = asLabelled === 0 ? 0 : hits / asLabelled;
    return { level, precision, recall, f1: hits === 0 ? 0 : (2 * precision * recall) / (precision + recall) };
  });
  const complex = prompts.filter(({ level }) => level === 'complex').length;
  return {
    matrix,
    perLevel,
    macroF1: perLevel.reduce((sum, { f1 }) => sum + f1, 0) / levels.length,
    complexAsTrivial: complex === 0 ? 0 : matrix.complex.trivial / complex,
    prompts: prompts.length,
  };
}
