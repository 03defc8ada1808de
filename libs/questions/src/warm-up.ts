import { complexityOf } from './complexity/complexity.js';

/**
 * Questions that together use every pattern. Patterns with letters of all alphabets are compiled on first use and again soon after:
 * about 0.15 s of CPU for the complexity of a question, 0.1 s for the comparison of two.
 */
export const warmUpQuestions = [
  'Compare the first page of the book with the last one, explain the differences, and calculate 17.5 % of 2,340.',
  'Wie hoch ist der Turm, den Gustave Eiffel 1889 in Paris gebaut hat?',
  'Write a function that sorts a list; then tell me who directed the film that the author of the book produced.',
];

const readAloud = (question: string) => (): void => void complexityOf(question, { hasHistory: true, hasAttachments: true });

/** Steps after which `complexityOf` has no first-use cost. */
export const complexityWarmUp: readonly (() => void)[] = warmUpQuestions.map(readAloud);
