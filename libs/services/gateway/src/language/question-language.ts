import { undetermined } from '@conclave/contracts';
import { answerLanguageOf } from '@conclave/questions';
import type { ClientQuestion } from '../chat/chat-request.js';

/** Language in which a question is to be answered, as `PlanRequested` has it; null for English. */
export async function languageOf({ goal, conversation }: Pick<ClientQuestion, 'goal' | 'conversation'>): Promise<string | null> {
  const earlier = conversation.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
  let isDetected = false;
  const read = answerLanguageOf(goal, earlier, () => {
    isDetected = true;
    return undetermined;
  });
  return isDetected ? answerLanguageOf(goal, earlier, (await import('./detector.js')).detectedLanguage) : read;
}
