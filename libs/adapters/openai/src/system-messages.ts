import { contentText, isInstruction, leadingInstructions, type JsonObject } from '@conclave/ports';

/** Whether instructions follow the first message, or have the role that only models of OpenAI know. */
export const hasLaterInstructions = (messages: unknown): messages is readonly JsonObject[] =>
  Array.isArray(messages) &&
  messages.some((message: JsonObject, at) => isInstruction(message) && (at > 0 || message['role'] === 'developer'));

/** The sentence of a server whose chat template refuses such messages, as llama.cpp, vLLM and LM Studio pass it on. */
export const refusesLaterInstructions = (message: string): boolean =>
  /\bsystem (?:message|role|prompt)s?\b.{0,80}\b(?:beginning|first|start|once)\b|\broles must alternate\b|\bonly user\b.{0,20}\bassistant\b.{0,20}\broles?\b|\b(?:unexpected|unknown|invalid|unsupported) (?:message )?role\b/iu.test(
    message.slice(0, 4_000),
  );

const partsOf = ({ content }: JsonObject): readonly unknown[] =>
  Array.isArray(content) ? (content as unknown[]) : [{ type: 'text', text: typeof content === 'string' ? content : '' }];

/** Two messages of the user as one. */
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
