import { promptMarks as marks, type AttachedReference, type Attachment, type QuotedDocument } from '@conclave/contracts';
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

/** Characters of each quoted document that a planner sees, and of all of them. */
const [quotedExcerpt, quotedExcerpts] = [600, 6_000];

/** Shows a planner how the documents begin that the request quotes; null if it quotes none. */
export function quotedIn(documents: readonly QuotedDocument[] = []): string | null {
  if (documents.length === 0) return null;
  const length = Math.min(quotedExcerpt, Math.floor(quotedExcerpts / documents.length));
  const lines = documents.map(
    ({ title, text }, index) => `[${index + 1}] ${oneLine(bounded(title, 80))}: ${bounded(oneLine(text), length)}`,
  );
  return `${marks.quoted} Whoever answers gets them whole: plan no search for what they say. They begin with:\n${asData(lines.join('\n'))}`;
}

/** Marks an omission between two pieces of a text. */
const gap = '[…]';

/** Characters of the client's system message that an expert sees, and of its beginning, which is always shown. */
const [systemLength, systemBeginning] = [8_000, 2_000];

/**
 * A system message for an expert that does not write the answer: its beginning, and the passages most relevant to the question, because
 * many front ends put what they found into it.
 */
export function systemExcerpt(system: string, query: string, scale: number): string {
  const room = Math.max(systemBeginning, Math.round(systemLength * scale));
  if (system.length <= room) return system;
  const begins = system.slice(0, systemBeginning);
  const passages = bestPassages(query, system.slice(systemBeginning), Math.max(0, room - systemBeginning - 2 * gap.length));
  return [begins, gap, ...passages].join('\n');
}

/** The text of a file as quoted data: all of it, or its beginning and the passages most relevant to the question. */
export function quotedFile({ name, room, query }: Extract<AttachedReference, { kind: 'file' }>, text: string): string {
  const whole = text.length <= room;
  const head = Math.max(Math.floor(room / 2), room - 2 * pageExcerpt);
  const shown = whole
    ? text
    : [text.slice(0, head), gap, ...bestPassages(query, text.slice(head), Math.max(0, room - head - 2 * gap.length))].join('\n');
  return [`ATTACHED FILE${name ? ` "${nameText(name)}"` : ''}${whole ? '' : ' (in parts)'}:`, asData(shown)].join('\n');
}
