import { createHash } from 'node:crypto';
import type { ChatMessage, ContentPart } from '@conclave/contracts';
import type { JsonObject } from '@conclave/ports';

/** A part of a message other than text, as the client sent it. */
export interface GivenPart {
  readonly part: ContentPart;
  readonly role: ChatMessage['role'];
  /** Its path in the request, such as `messages[0].content[1]`. */
  readonly param: string;
  /** True in the last user message, which is the current question. */
  readonly asked: boolean;
}

/** Part types of the chat API and of the Responses API. */
const textTypes: ReadonlySet<string> = new Set(['text', 'refusal', 'input_text', 'output_text']);
const isText = ({ type }: ContentPart): boolean => textTypes.has(type);

/** Joins the texts of a message. Parts without white space between them become lines, so that no words are merged. */
export const joinedTexts = (texts: readonly string[]): string =>
  texts.reduce((so, text) => (so === '' || text === '' || /\s$/u.test(so) || /^\s/u.test(text) ? so + text : `${so}\n${text}`), '');

/** The texts of a message, joined and in parts, and its other parts. */
export function readContent({ content }: ChatMessage): {
  readonly text: string;
  readonly texts: readonly string[];
  readonly others: readonly (readonly [number, ContentPart])[];
} {
  if (content === null || content === undefined) return { text: '', texts: [], others: [] };
  if (typeof content === 'string') return { text: content, texts: [content], others: [] };
  const texts = content.flatMap((part) => (isText(part) ? [part.text ?? ''] : []));
  return {
    text: joinedTexts(texts),
    texts,
    others: content.flatMap((part, at) => (isText(part) ? [] : [[at, part] as const])),
  };
}

/** Nesting levels allowed in a part; the deepest known kind has two. */
const deepest = 8;

/** Whether a part nests no deeper than allowed; parts are serialized again, recursively, for the model and the audit. */
export const isFlat = (value: unknown, levels = deepest): boolean =>
  typeof value !== 'object' || value === null || (levels > 0 && Object.values(value).every((member) => isFlat(member, levels - 1)));

/** Whether a part of a chat message is an image or a file. */
export const isFile = ({ type }: Readonly<Record<string, unknown>>): boolean => type === 'image_url' || type === 'file';

/** What a tool returned, as the content of a chat message: its parts if it contains images or files, otherwise one text. */
export const returnedContent = (parts: readonly Readonly<Record<string, unknown>>[]): unknown =>
  parts.some(isFile)
    ? parts.filter((part) => isFile(part) || 'text' in part)
    : parts.map(({ text }) => (typeof text === 'string' ? text : '')).join('');

/** Text that replaces an image or file of an earlier turn, which is not read again. */
export const placeholderOf = ({ type }: ContentPart): string =>
  type === 'image_url' ? '[image]' : type === 'file' ? '[file]' : '[attachment]';

/** The text of a message with a mark in place of each other part. */
export const markedText = ({ text, others }: Omit<ReturnType<typeof readContent>, 'texts'>): string =>
  [text, ...others.map(([, part]) => placeholderOf(part))].filter(Boolean).join('\n');

/** Length in characters from which a string counts as a file body instead of text. */
const bodyFrom = 256;

/** Characters of images and files in a body of any chat API, which have their own limits. */
export function bodyCharacters({ messages, input }: Record<string, unknown>): number {
  const turns: unknown = messages ?? input;
  if (!Array.isArray(turns)) return 0;
  return turns.flatMap(partsOf).reduce((sum: number, part) => sum + longStrings(part), 0);
}

const partsOf = (message: unknown): readonly object[] => {
  const { content, output } = typeof message === 'object' && message !== null ? (message as { content?: unknown; output?: unknown }) : {};
  const parts: unknown = Array.isArray(content) ? content : output;
  if (!Array.isArray(parts)) return [];
  return parts
    .filter((part): part is object => typeof part === 'object' && part !== null && !isText(part as ContentPart))
    .flatMap((part) => {
      const { type, content: inside } = part as { type?: unknown; content?: unknown };
      return type === 'tool_result' && Array.isArray(inside) ? partsOf(part) : [part];
    });
};

/** Looks only as deep as parts nest: `image_url.url`, `file.file_data`, `input_audio.data`. */
function longStrings(part: object): number {
  const members = Object.values(part).flatMap((value: unknown) =>
    typeof value === 'object' && value !== null ? (Object.values(value) as unknown[]) : [value],
  );
  return members.reduce<number>((sum, value) => sum + (typeof value === 'string' && value.length >= bodyFrom ? value.length : 0), 0);
}

/** A chat body as stored in the audit: with a hash in place of each image and file. */
export const withoutBodies = (body: JsonObject): JsonObject => ({
  ...body,
  ...(Array.isArray(body['messages']) ? { messages: body['messages'].map(withoutContent) } : {}),
});

function withoutContent(message: unknown): unknown {
  const content = typeof message === 'object' && message !== null ? (message as { content?: unknown }).content : null;
  if (!Array.isArray(content)) return message;
  return {
    ...(message as object),
    content: content.map((part: unknown) =>
      typeof part === 'object' && part !== null && !isText(part as ContentPart) ? hashed(part) : part,
    ),
  };
}

function hashed(value: unknown): unknown {
  if (typeof value === 'string') return value.length < bodyFrom ? value : `sha256:${createHash('sha256').update(value).digest('hex')}`;
  if (Array.isArray(value)) return value.map(hashed);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hashed(member)]));
  return value;
}
