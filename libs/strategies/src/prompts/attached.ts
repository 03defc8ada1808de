import type { AttachedReference, Attachment } from '@conclave/contracts';
import { bestPassages, pageExcerpt } from '../research/passages.js';
import { asData, bounded, oneLine } from './quoting.js';

/** Characters of all attached files in an uncut prompt, about 6,000 tokens of English. */
export const filesLength = 24_000;

/** A prompt's references to attachments. Files share the room equally, so that equal requests stay equal. */
export function referencesTo(attachments: readonly Attachment[], room: number, query: string): readonly AttachedReference[] {
  const files = attachments.filter(({ kind }) => kind === 'file').length;
  return attachments.flatMap((one): AttachedReference[] => {
    const { kind, mime, name, blob, bytes = 0, url, text } = one;
    const key = one.key === undefined ? {} : { key: one.key };
    if (kind === 'image') return [{ kind, mime, blob, bytes, url, ...key }];
    if (blob === null || !text) return [];
    const share = Math.floor(room / files);
    const tokens = Math.ceil(text.tokens * Math.min(1, share / Math.max(1, text.characters)));
    return [{ kind, mime, name, blob, bytes, room: share, tokens, query, ...key }];
  });
}

/** Short names for people and models: `image (image/png)`, `file "report.pdf" (application/pdf)`. */
export const namesOf = (attachments: readonly Attachment[]): string =>
  attachments.map(({ kind, name, mime }) => `${kind}${name ? ` "${nameText(name)}"` : ''} (${oneLine(bounded(mime, 80))})`).join(', ');

const nameText = (name: string): string => oneLine(bounded(name, 80)).replaceAll('"', "'");

/** Marks an omission between two pieces of a text. */
const gap = '[…]';

/** The text of a file as quoted data: all of it, or its beginning and the passages most relevant to the question. */
export function quotedFile({ name, room, query }: Extract<AttachedReference, { kind: 'file' }>, text: string): string {
  const whole = text.length <= room;
  const head = Math.max(Math.floor(room / 2), room - 2 * pageExcerpt);
  const shown = whole
    ? text
    : [text.slice(0, head), gap, ...bestPassages(query, text.slice(head), Math.max(0, room - head - 2 * gap.length))].join('\n');
  return [`ATTACHED FILE${name ? ` "${nameText(name)}"` : ''}${whole ? '' : ' (in parts)'}:`, asData(shown)].join('\n');
}
