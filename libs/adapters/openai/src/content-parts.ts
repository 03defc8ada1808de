import { isJsonObject } from '@conclave/ports';

/** The text and the thinking in one part of a message. */
interface PartTexts {
  readonly text: string;
  readonly thinking: string;
}

const textsIn = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value)
      ? value.map((inner: unknown) => (isJsonObject(inner) && typeof inner['text'] === 'string' ? inner['text'] : '')).join('')
      : '';

/**
 * What is in a part of a reply whose content is a list: `text`, `thinking` (Mistral), `reasoning` with its summary (Databricks), or the number of a
 * source (`reference`, Mistral), which has no text. Null for any other part, such as an image.
 */
export function textsOfPart(part: unknown): PartTexts | null {
  if (!isJsonObject(part)) return null;
  switch (part['type']) {
    case 'text':
    case undefined:
      return typeof part['text'] === 'string' ? { text: part['text'], thinking: '' } : null;
    case 'thinking':
      return { text: '', thinking: textsIn(part['thinking']) };
    case 'reasoning':
      return { text: '', thinking: textsIn(part['summary'] ?? part['text']) };
    case 'reference':
      return { text: '', thinking: '' };
    default:
      return null;
  }
}
