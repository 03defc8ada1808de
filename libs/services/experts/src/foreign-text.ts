import { noticesAbout, visibleText, type DocumentReader } from '@conclave/ports';

/** External text as a person would see it, and notices about it. */
export interface ForeignText {
  readonly text: string;
  readonly notices: readonly string[];
}

/** A reply that begins with markup is a page or part of one. */
const beginsAsPage =
  /^\s{0,100}(?:<!--|<!doctype\s+html|<(?:html|head|body|main|article|section|header|nav|div|p|table|ul|ol|dl|h[1-6])\b[^<>]{0,2000}>)/i;

const htmlType = 'text/html; charset=utf-8';

/**
 * The result of a tool or an extension, before it can reach a prompt. Of a page only the visible text remains, without hidden elements; invisible
 * characters are removed. Prose is unchanged; phrases that address a model are only reported. Throws DOCUMENT_* for a page that cannot be read,
 * CALL_CANCELLED.
 */
export async function foreignText(text: string, documents: Pick<DocumentReader, 'read'> | null, signal: AbortSignal): Promise<ForeignText> {
  if (documents && beginsAsPage.test(text)) {
    const { text: read, notices } = await documents.read({ bytes: new TextEncoder().encode(text), mime: htmlType, name: '', signal });
    return { text: read, notices };
  }
  const { text: visible, removed } = visibleText(text);
  return { text: visible, notices: noticesAbout(visible, removed) };
}
