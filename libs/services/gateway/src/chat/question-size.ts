import { estimateTokens, Failure, type Template } from '@conclave/contracts';
import type { ClientQuestion } from './chat-request.js';

/** Most characters per token in the estimate: a text beyond this exceeds the limit without being counted. */
const charactersPerToken = 4;

/**
 * The question with as much of its conversation as this template can pay for, and of the documents of that; every prompt would omit the older
 * turns anyway. Throws QUESTION_TOO_LONG when the question alone is too long, before any other work.
 */
export function withinReach<Q extends ClientQuestion>(question: Q, template: Template): Q {
  const limit = longestQuestion(template);
  let left = limit - tokensUpTo(question.goal, limit);
  if (left >= 0 && question.system !== null) left -= tokensUpTo(question.system, left);
  for (const { text } of question.documents) if (left >= 0) left -= tokensUpTo(text, left);
  if (left < 0)
    throw new Failure(
      'QUESTION_TOO_LONG',
      `A question to \`${template.id}\` may have ${limit} tokens, as estimated: a third of its \`limits\`, or what its models can read.`,
      { param: 'messages' },
    );
  const { conversation, earlier } = question;
  let from = conversation.length;
  while (from > 0) {
    const tokens = tokensUpTo(conversation[from - 1]!.content, left);
    if (tokens > left) break;
    left -= tokens;
    from -= 1;
  }
  const documents = earlier.filter(({ text }) => {
    const tokens = tokensUpTo(text, left);
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
  if (from === 0 && earlier.length === 0) return question;
  return { ...question, conversation: conversation.slice(from), documents: [...question.documents, ...documents], earlier: [] };
}

/** Fewest prompts of one run that contain the question: planner, one expert, composer. */
const promptsOfARun = 3;

/**
 * Most tokens of a question with its conversation: its share of the run's prompt and total budgets, and at most the longest context, if the
 * context of every model is known. A longer question would only exhaust its budget without an answer.
 */
function longestQuestion({ limits, contexts, planner, judge, experts }: Template): number {
  const models = [...planner.models, ...judge.models, ...Object.values(experts).flatMap(({ t1 = [], t2 = [] }) => [...t1, ...t2])];
  const known = models.map((model) => contexts[model] ?? Number.POSITIVE_INFINITY);
  const share = Math.floor(Math.min(limits.prompt_tokens, limits.tokens) / promptsOfARun);
  return Math.min(share, known.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...known));
}

/** Tokens of a text; beyond the limit, some number above the limit. */
const tokensUpTo = (text: string, limit: number): number => (text.length > limit * charactersPerToken ? limit + 1 : estimateTokens(text));
