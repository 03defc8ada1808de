import { contentText, isJsonObject, type JsonObject } from '@conclave/ports';

/** Begins the text before the files of a result, in a message of the user. */
const announced = 'Returned by the tool call ';

const partsIn = (message: unknown): readonly JsonObject[] =>
  isJsonObject(message) && Array.isArray(message['content']) ? message['content'].filter(isJsonObject) : [];

/** Images and files in the result of a tool. */
const filesIn = (message: unknown): readonly JsonObject[] =>
  isJsonObject(message) && message['role'] === 'tool' ? partsIn(message).filter(({ type }) => type === 'image_url' || type === 'file') : [];

/** Whether tools returned images or files. */
export const hasToolFiles = (messages: unknown): messages is readonly JsonObject[] =>
  Array.isArray(messages) && messages.some((message) => filesIn(message).length > 0);

/** Whether a request has messages made by `withToolFilesApart`. */
export const hasToolFilesApart = (messages: unknown): boolean =>
  Array.isArray(messages) &&
  messages.some(
    (message) =>
      isJsonObject(message) &&
      message['role'] === 'user' &&
      partsIn(message).some(({ text }) => typeof text === 'string' && text.startsWith(announced)),
  );

/** The sentence of a server whose model cannot read images, as llama.cpp, vLLM, Ollama, LM Studio and OpenAI word it. */
export const refusesFiles = (message: string): boolean =>
  /\bimages?\b|image_url|\bvision\b|multi-?modal|\bmmproj\b|\b(?:part|content) type\b|\bcontent must be a string\b|\bunknown variant\b/iu.test(
    message.slice(0, 4_000),
  );

/** The result of a tool as text, with a mark in place of each image and file. */
function marked(message: JsonObject, suffix: string): JsonObject {
  const marks = filesIn(message).map(({ type }) => (type === 'file' ? '[file' : '[image') + suffix);
  return {
    ...message,
    content: [contentText(partsIn(message).filter(({ type }) => type === 'text')), ...marks].filter((line) => line !== '').join('\n'),
  };
}

/** The messages with a mark in place of each image and file that a tool returned. */
export const withoutToolFiles = (messages: readonly JsonObject[]): readonly JsonObject[] =>
  messages.map((message) => (filesIn(message).length > 0 ? marked(message, ', which this model cannot see]') : message));

/**
 * The messages with texts as results of tools, as the chat API requires. Images and files of results follow all results of their turn in a message of
 * the user, which every model that can see reads; many chat templates refuse two such messages in a row, so they join the next one.
 */
export function withToolFilesApart(messages: readonly JsonObject[]): readonly JsonObject[] {
  const all: JsonObject[] = [];
  let waiting: readonly JsonObject[] = [];
  for (const message of messages) {
    const files = filesIn(message);
    if (message['role'] !== 'tool' && waiting.length > 0) {
      const isUser = message['role'] === 'user';
      const said = isUser && typeof message['content'] === 'string' ? [{ type: 'text', text: message['content'] }] : partsIn(message);
      all.push({ ...(isUser ? message : {}), role: 'user', content: isUser ? [...waiting, ...said] : waiting });
      waiting = [];
      if (isUser) continue;
    }
    all.push(files.length > 0 ? marked(message, ', shown after the results]') : message);
    if (files.length > 0) waiting = [...waiting, { type: 'text', text: `${announced}${String(message['tool_call_id'])}:` }, ...files];
  }
  if (waiting.length > 0) all.push({ role: 'user', content: waiting });
  return all;
}
