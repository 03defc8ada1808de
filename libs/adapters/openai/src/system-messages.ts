import { contentText, isInstruction, leadingInstructions, type JsonObject } from '@conclave/ports';

/** Whether instructions follow the first message, or have the role that only models of OpenAI know. */
export const hasLaterInstructions = (messages: unknown): messages is readonly JsonObject[] =>
  Array.isArray(messages) &&
  messages.some((message: JsonObject, at) => isInstruction(message) && (at > 0 || message['role'] === 'developer'));

/** The sentence of a server whose chat template refuses such messages, as llama.cpp, vLLM and LM Studio pass it on. */
export const refusesLaterInstructions = (message: string): boolean =>
  /\bsystem (?:message|role|prompt)s?\b.{0,80}\b(?:beginning|first|start|once)\b|\broles must alternate\b|\bshould alternate with\b|\bonly user\b.{0,20}\bassistant\b.{0,20}\broles?\b|\b(?:unexpected|unknown|invalid|unsupported) (?:message )?role\b/iu.test(
    message.slice(0, 4_000),
  );

const partsOf = ({ content }: JsonObject): readonly unknown[] =>
  Array.isArray(content) ? (content as unknown[]) : [{ type: 'text', text: typeof content === 'string' ? content : '' }];

/** Two messages of the same side as one. */
const joined = (first: JsonObject, second: JsonObject): JsonObject =>
  typeof first['content'] === 'string' && typeof second['content'] === 'string'
    ? { ...first, content: `${first['content']}\n\n${second['content']}` }
    : { ...first, content: [...partsOf(first), ...partsOf(second)] };

/**
 * The messages with one system message, at the beginning. Later instructions become text of the user's turn, marked as agents mark
 * theirs, so that they keep their place and turns still alternate.
 */
export function withOneSystemMessage(messages: readonly JsonObject[]): readonly JsonObject[] {
  const { count, text } = leadingInstructions(messages);
  const turns: JsonObject[] = count > 0 ? [{ role: 'system', content: text }] : [];
  let noted = false;
  for (const message of messages.slice(count)) {
    const isNote = isInstruction(message);
    const turn = isNote ? { role: 'user', content: `<system-reminder>\n${contentText(message['content'])}\n</system-reminder>` } : message;
    const last = turns.at(-1);
    // Two messages of a user that the client sent as two stay two.
    if (last?.['role'] === 'user' && turn['role'] === 'user' && (isNote || noted)) turns[turns.length - 1] = joined(last, turn);
    else turns.push(turn);
    noted = isNote;
  }
  return turns;
}

/** Whether any message has instructions for the model. */
export const hasInstructions = (messages: unknown): messages is readonly JsonObject[] =>
  Array.isArray(messages) && messages.some((message: JsonObject) => isInstruction(message));

/**
 * The sentence of a server whose model knows no instructions at all: the chat templates of Gemma 2 and early Mistral models, Gemini for
 * Gemma 3, Bedrock, and OpenAI for its first reasoning models.
 */
export const refusesInstructions = (message: string): boolean =>
  /\bsystem (?:message|role|prompt)s?\b (?:is |are )?(?:not supported|unsupported)|\b(?:doesn't|does not|don't|do not) support (?:the )?['"\u0060]?system\b|\bdeveloper instruction is not enabled\b|\broles must alternate\b|\bonly user\b.{0,20}\bassistant\b.{0,20}\broles?\b/iu.test(
    message.slice(0, 4_000),
  );

/** The messages with all instructions as text of the user: those at the beginning stand before the first question. */
export function withoutSystemMessage(messages: readonly JsonObject[]): readonly JsonObject[] {
  const [first, ...turns] = withOneSystemMessage(messages);
  if (first?.['role'] !== 'system') return first ? [first, ...turns] : [];
  const told = { ...first, role: 'user' };
  return turns[0]?.['role'] === 'user' ? [{ ...turns[0], ...joined(told, turns[0]), role: 'user' }, ...turns.slice(1)] : [told, ...turns];
}

/** Whether two messages of the same side follow each other and could be one. */
export const hasNeighbours = (messages: unknown): messages is readonly JsonObject[] =>
  Array.isArray(messages) && messages.some((message: JsonObject, at) => areNeighbours(messages[at - 1] as JsonObject | undefined, message));

const areNeighbours = (before: JsonObject | undefined, message: JsonObject): boolean =>
  before !== undefined &&
  before['role'] === message['role'] &&
  (message['role'] === 'user' || (message['role'] === 'assistant' && !before['tool_calls'] && !message['tool_calls']));

/** The sentence of a server, or of its chat template, that two messages of the same side follow each other. */
export const refusesNeighbours = (message: string): boolean =>
  /\broles must alternate\b|\bshould alternate with\b/iu.test(message.slice(0, 4_000));

/** The messages with those that follow another of the same side joined to it. */
export function withTurnsThatAlternate(messages: readonly JsonObject[]): readonly JsonObject[] {
  const turns: JsonObject[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last && areNeighbours(last, message)) turns[turns.length - 1] = joined(last, message);
    else turns.push(message);
  }
  return turns;
}
