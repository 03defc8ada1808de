import type { JsonObject } from '../tools/tools.js';

/** The text of a message's content: the text itself, or that of its parts. */
export const contentText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part: { readonly text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('\n\n')
      : '';

/** Whether a chat message contains instructions of the application. */
export const isInstruction = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer';

/** The instructions at the beginning of a chat: how many messages they are, and their text. */
export function leadingInstructions(messages: readonly JsonObject[]): { readonly count: number; readonly text: string } {
  const first = messages.findIndex((message) => !isInstruction(message));
  const count = first < 0 ? messages.length : first;
  const texts = messages.slice(0, count).map(({ content }) => contentText(content));
  return { count, text: texts.filter((text) => text !== '').join('\n\n') };
}
