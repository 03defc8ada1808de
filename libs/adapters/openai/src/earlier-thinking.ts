import { isJsonObject, type JsonObject } from '@conclave/ports';

/** Members of a message that hold its thinking, as servers send it and clients send it back. */
const members = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/** Whether the turns of a conversation have their thinking with them. */
export const hasEarlierThinking = (messages: unknown): messages is readonly JsonObject[] =>
  Array.isArray(messages) && messages.some((message) => isJsonObject(message) && members.some((member) => member in message));

/** The refusal of a server that knows thinking only in replies: Mistral names the member, Cerebras and Groq write a sentence about it. */
export const refusesEarlierThinking = ({ message, param }: { readonly message: string; readonly param: string }): boolean =>
  /\breasoning(?:_content|_details)?\b/.test(`${param} ${message.slice(0, 4_000)}`) &&
  /\b(?:unsupported|not (?:supported|permitted|allowed)|unknown|unrecognized|unexpected)\b/i.test(message.slice(0, 4_000));

/** The messages without the thinking of earlier turns. */
export const withoutEarlierThinking = (messages: readonly JsonObject[]): readonly JsonObject[] =>
  messages.map((message) => Object.fromEntries(Object.entries(message).filter(([name]) => !members.some((member) => member === name))));
