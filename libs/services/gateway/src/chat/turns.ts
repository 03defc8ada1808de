import { leadingInstructions, type JsonObject } from '@conclave/ports';

/** A chat message made from a part of a request in another API; `path`: that part, such as `input[2]`. */
export interface Turn {
  readonly message: JsonObject;
  readonly path: string;
}

/**
 * Turns as every chat template accepts them. Many templates of local models accept one system message, at the beginning, and
 * expect an answer of the model, with its text and its calls, to be one message; OpenAI's API requires the latter for parallel calls.
 */
export function joined(turns: readonly Turn[]): readonly Turn[] {
  const { count, text } = leadingInstructions(turns.map(({ message }) => message));
  const all: Turn[] = text === '' ? [] : [{ message: { role: 'system', content: text }, path: turns[0]!.path }];
  for (const turn of turns.slice(count)) {
    const before = all.at(-1);
    const one = before ? joinedAnswer(before.message, turn.message) : null;
    if (before && one) all[all.length - 1] = { ...before, message: one };
    else all.push(turn);
  }
  return all;
}

const callsOf = ({ tool_calls: calls }: JsonObject): readonly unknown[] => (Array.isArray(calls) ? calls : []);

/** One message of the assistant if the second continues the first with calls; otherwise null. */
function joinedAnswer(first: JsonObject, second: JsonObject): JsonObject | null {
  if (first['role'] !== 'assistant' || second['role'] !== 'assistant') return null;
  if (second['content'] !== null || callsOf(second).length === 0) return null;
  return { ...first, tool_calls: [...callsOf(first), ...callsOf(second)] };
}
