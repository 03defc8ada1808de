import { estimatePrompt, estimateTokens, type TextMessage } from '@conclave/contracts';
import type { PromptMessage } from './quoting.js';

/** How much of its long parts a prompt may show. */
export interface Cut {
  readonly conversation: readonly TextMessage[];
  /** Share of the usual length allowed for each fact and each answer, 0 to 1. */
  readonly scale: number;
}

/** Tokens for role and separators that a turn costs on top of its text. */
const perTurn = 6;

/**
 * A prompt of at most `promptTokens` (estimated): drops the oldest turns of the conversation first, then shortens facts and answers.
 * Returns the rest even if it is still too long; the model server then refuses it.
 */
export function fitted(
  conversation: readonly TextMessage[],
  promptTokens: number,
  render: (cut: Cut) => readonly PromptMessage[],
): readonly PromptMessage[] {
  if (promptTokens === Number.POSITIVE_INFINITY) return render({ conversation, scale: 1 });
  for (const scale of [1, 0.5, 0.25]) {
    const left = promptTokens - estimatePrompt(render({ conversation: [], scale }));
    if (left >= 0) return render({ conversation: newest(conversation, left), scale });
  }
  return render({ conversation: [], scale: 0.25 });
}

function newest(turns: readonly TextMessage[], tokens: number): readonly TextMessage[] {
  let left = tokens;
  let from = turns.length;
  while (from > 0 && (left -= estimateTokens(turns[from - 1]!.content) + perTurn) >= 0) from -= 1;
  return turns.slice(from);
}
