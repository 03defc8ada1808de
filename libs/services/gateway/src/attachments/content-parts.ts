import { createHash } from 'node:crypto';
import type { ChatMessage, ContentPart } from '@conclave/contracts';
import type { JsonBody } from '@conclave/ports';

/** A part of a message that is no text, as the client sent it. */
export interface GivenPart {
  readonly part: ContentPart;
  readonly role: ChatMessage['role'];
  /** Where it stands, such as `messages[0].content[1]`. */
  readonly param: string;
  /** It is in the last user message: part of what is asked now. */
  readonly asked: boolean;
}

const isText = ({ type }: ContentPart): boolean => type === 'text' || type === 'refusal';

/** Texts of a message as one, and what else is in it. */
export function readContent({ content }: ChatMessage): {
  readonly text: string;
  readonly others: readonly (readonly [number, ContentPart])[];
} {
  if (content === null || content === undefined) return { text: '', others: [] };
  if (typeof content === 'string') return { text: content, others: [] };
  return {
    text: content.flatMap((part) => (isText(part) ? [part.text ?? ''] : [])).join(''),
    others: content.flatMap((part, at) => (isText(part) ? [] : [[at, part] as const])),
  };
}

/** Levels of objects and lists that a part may have; the deepest known kind has two. */
const deepest = 8;

/** Whether a part is as flat as parts are: what goes on to a model and into the audit is written as JSON again, level by level. */
export const isFlat = (value: unknown, levels = deepest): boolean =>
  typeof value !== 'object' || value === null || (levels > 0 && Object.values(value).every((member) => isFlat(member, levels - 1)));

/** What an earlier turn says in the place of an image or file, which is not looked at again. */
export const placeholderOf = ({ type }: ContentPart): string =>
  type === 'image_url' ? '[image]' : type === 'file' ? '[file]' : '[attachment]';

/** Characters of a string from which on it is no text but a body. */
const bodyFrom = 256;

/** Characters of images and files in a chat body, which has limits of its own for them. */
export function bodyCharacters({ messages }: Record<string, unknown>): number {
  if (!Array.isArray(messages)) return 0;
  return messages.flatMap(partsOf).reduce((sum: number, part) => sum + longStrings(part), 0);
}

const partsOf = (message: unknown): readonly object[] => {
  const content = typeof message === 'object' && message !== null ? (message as { content?: unknown }).content : null;
  if (!Array.isArray(content)) return [];
  return content.filter((part): part is object => typeof part === 'object' && part !== null && !isText(part as ContentPart));
};

/** Only as deep as parts are: `image_url.url`, `file.file_data`, `input_audio.data`. */
function longStrings(part: object): number {
  const members = Object.values(part).flatMap((value: unknown) =>
    typeof value === 'object' && value !== null ? (Object.values(value) as unknown[]) : [value],
  );
  return members.reduce<number>((sum, value) => sum + (typeof value === 'string' && value.length >= bodyFrom ? value.length : 0), 0);
}

/** A chat body as the audit keeps it: a hash in the place of each image and file. */
export const withoutBodies = (body: JsonBody): JsonBody => ({
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
