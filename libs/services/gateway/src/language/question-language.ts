import { undetermined } from '@conclave/contracts';
import { answerLanguageOf, bothEnds, decidesLanguage } from '@conclave/questions';
import { earlierQuestions } from '@conclave/strategies';
import type { ClientQuestion } from '../chat/chat-request.js';

/** Language in which a question is to be answered, as `PlanRequested` has it; null for English, or if the client's system message decides. */
export async function languageOfQuestion({
  goal,
  conversation,
  system,
}: Pick<ClientQuestion, 'goal' | 'conversation' | 'system'>): Promise<string | null> {
  if (system !== null && decidesLanguage(bothEnds(system))) return null;
  const earlier = earlierQuestions({ conversation });
  let isDetected = false;
  const read = answerLanguageOf(goal, earlier, () => {
    isDetected = true;
    return undetermined;
  });
  return isDetected ? answerLanguageOf(goal, earlier, (await import('./detector.js')).detectedLanguage) : read;
}
