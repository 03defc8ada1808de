type Message = Readonly<Record<string, unknown>>;

/** A chat message made from a part of a request in another API; `path`: that part, such as `input[2]`. */
export interface Turn {
  readonly message: Message;
  readonly path: string;
}

/**
 * Turns as every chat template accepts them. Many templates of local models accept one system message, at the beginning, and
 * expect an answer of the model, with its text and its calls, to be one message; OpenAI's API requires the latter for parallel calls.
 */
export function joined(turns: readonly Turn[]): readonly Turn[] {
  const first = turns.findIndex(({ message }) => message['role'] !== 'system');
  const leading = turns.slice(0, first < 0 ? turns.length : first);
  const instructions = leading.map(({ message }) => textOf(message['content'])).filter((text) => text !== '');
  const rest = turns.slice(leading.length).reduce<Turn[]>((done, turn) => {
    const before = done.at(-1);
    const one = before ? joinedAnswer(before.message, turn.message) : null;
    return before && one ? [...done.slice(0, -1), { ...before, message: one }] : [...done, turn];
  }, []);
  return instructions.length === 0
    ? rest
    : [{ message: { role: 'system', content: instructions.join('\n\n') }, path: leading[0]!.path }, ...rest];
}

/** The text of a message that has only text, part by part. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('\n\n')
    : '';
}

const callsOf = ({ tool_calls: calls }: Message): readonly unknown[] => (Array.isArray(calls) ? calls : []);

/** One message of the assistant if the second continues the first with calls; otherwise null. */
function joinedAnswer(first: Message, second: Message): Message | null {
  if (first['role'] !== 'assistant' || second['role'] !== 'assistant') return null;
  if (second['content'] !== null || callsOf(second).length === 0) return null;
  return { ...first, tool_calls: [...callsOf(first), ...callsOf(second)] };
}
