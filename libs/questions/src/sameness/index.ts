import { warmUpQuestions } from '../warm-up.js';
import { sameQuestion } from './sameness.js';

export { asksAboutToday } from '../moment.js';
export { sameQuestion };

/** Steps after which `sameQuestion` has no first-use cost. */
export const samenessWarmUp: readonly (() => void)[] = warmUpQuestions.map(
  (question) => (): void => void sameQuestion(question, question.replace(/\.$|\?$/, ' today?')),
);
