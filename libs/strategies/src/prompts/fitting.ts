import { estimatePrompt, estimateTokens, type TextMessage } from '@conclave/contracts';
import type { PromptMessage } from './quoting.js';

/** What a prompt may show of the parts that can be long. */
export interface Cut {
  readonly conversation: readonly TextMessage[];
  /** Share of the usual length that each fact and each answer may have, 0 to 1. */
  readonly scale: number;
}

/** Role and separators that a turn costs on top of its text. */
const perTurn = 6;

/**
 * A prompt of at most `promptTokens` (estimated): the oldest turns of the conversation go first, then facts and answers are shortened.
 * What is left is given even where it is still too long; the server says so then.
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
