import { Failure } from '@conclave/contracts';
import { noticesAbout, visibleText } from '../pages/visible-text.js';
import type { DocumentReader, DocumentToRead, ReadDocument } from './documents.js';

/** Reads plain text and Markdown only, for tests and simulations. */
export class MemoryDocuments implements DocumentReader {
  async read({ bytes, mime, name, signal }: DocumentToRead): Promise<ReadDocument> {
    if (signal?.aborted) throw new Failure('CALL_CANCELLED');
    const type = textTypeOf(mime, name);
    if (!type) throw new Failure('DOCUMENT_UNSUPPORTED', `Its media type is ${mime || 'missing'}.`);
    const { text, removed } = visibleText(new TextDecoder().decode(bytes));
    if (text.trim() === '') throw new Failure('DOCUMENT_UNREADABLE', 'It contains no text.');
    const heading = type === 'text/markdown' ? /^#{1,6}\s+(.+)$/m.exec(text)?.[1]?.trim() : undefined;
    return { title: heading ?? name, text: text.trim(), mime: type, notices: noticesAbout(text, removed) };
  }
  async close(): Promise<void> {}
}

/** Media type of a text: the declared one, else from the file extension; null for anything else. */
function textTypeOf(mime: string, name: string): string | null {
  const declared = mime.split(';')[0]!.trim().toLowerCase();
  if (declared === 'text/markdown' || declared === 'text/x-markdown') return 'text/markdown';
  if (declared !== '' && declared !== 'application/octet-stream' && declared !== 'text/plain') return null;
  if (/\.(?:md|markdown)$/i.test(name)) return 'text/markdown';
  return declared === 'text/plain' || /\.(?:txt|text)$/i.test(name) ? 'text/plain' : null;
}
