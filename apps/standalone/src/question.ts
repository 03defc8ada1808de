import type { ModelChoice } from '@conclave/platform';

/** A question any model can answer, where the sample documents are not searched. */
const generalQuestion = 'What is the difference between TCP and UDP, and when does it matter?';

/** The question the start-up text suggests: the demo model is shown on its sample documents. */
export const questionFor = (choice: ModelChoice, sampleQuestion: string | null): string =>
  choice.because === 'demo' && sampleQuestion ? sampleQuestion : generalQuestion;
