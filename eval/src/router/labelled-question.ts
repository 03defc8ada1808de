import { QuestionClass } from '@conclave/strategies';
import { halfOf, type Half } from '../halves.js';
import { english } from './english.js';
import { german } from './german.js';

export interface LabelledQuestion {
  readonly text: string;
  readonly class: QuestionClass;
  readonly language: 'en' | 'de';
  readonly half: Half;
}

/**
 * All questions. They were written before the rules were measured; the misses of the tuning half were examined, those of the other half only
 * counted.
 */
export const labelledQuestions: readonly LabelledQuestion[] = QuestionClass.options.flatMap((named) =>
  (['en', 'de'] as const).flatMap((language) =>
    (language === 'en' ? english : german)[named].map((text, position) => ({ text, class: named, language, half: halfOf(position) })),
  ),
);
