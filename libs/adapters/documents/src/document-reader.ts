import { Failure } from '@conclave/contracts';
import { noticesAbout, visibleText, type DocumentReader, type DocumentToRead, type ReadDocument } from '@conclave/ports';
import { mediaTypeOf } from './media-types.js';
import { ReadingProcesses, type ReadingProcessesOptions } from './reading-processes.js';

export interface DocumentReaderOptions extends ReadingProcessesOptions {
  /** Largest document, bytes. */
  readonly maxBytes?: number;
  /** Most pages of a PDF, slides or sheets. */
  readonly maxPages?: number;
  /** Longest text of a document, characters. */
  readonly maxCharacters?: number;
}

/**
 * Reads text (also Markdown, other markup, source code, CSV, TSV and JSON), HTML, PDF, DOCX, XLSX and PPTX. Each document is read in a process that ends when it takes longer
 * than `timeoutMs` (default 20 s) or grows beyond its memory. Starts no process before the first document.
 */
export function openDocumentReader({
  maxBytes = 20 * 1024 * 1024,
  maxPages = 1_000,
  maxCharacters = 5_000_000,
  ...processOptions
}: DocumentReaderOptions = {}): DocumentReader {
  const processes = new ReadingProcesses({ timeoutMs: 20_000, ...processOptions });

  return {
    async read({ bytes, mime, name, signal = new AbortController().signal }: DocumentToRead): Promise<ReadDocument> {
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      const type = mediaTypeOf(mime, name, bytes);
      if (!type) throw new Failure('DOCUMENT_UNSUPPORTED', `It is ${mime === '' ? 'of no known media type' : mime.slice(0, 100)}.`);
      if (bytes.byteLength > maxBytes)
        throw new Failure('DOCUMENT_TOO_LARGE', `It has ${bytes.byteLength} bytes; the limit is ${maxBytes}.`);
      if (bytes.byteLength === 0) throw new Failure('DOCUMENT_UNREADABLE', 'It is empty.');
      const read = await processes.readSomehow(
        {
          kind: type.kind,
          bytes,
          charset: type.charset,
          limit: maxCharacters + 1,
          pages: maxPages,
          strict: true,
          extract: 'whole',
          markdown: type.mime === 'text/markdown',
        },
        signal,
      );
      if ('failed' in read) throw new Failure(read.failed === 'too_large' ? 'DOCUMENT_TOO_LARGE' : 'DOCUMENT_UNREADABLE', read.message);
      if (read.text.length > maxCharacters) throw new Failure('DOCUMENT_TOO_LARGE', `Its text is longer than ${maxCharacters} characters.`);
      const { text, removed } = visibleText(read.text);
      if (text.trim() === '') throw new Failure('DOCUMENT_UNREADABLE', 'It contains no text.');
      return {
        title: visibleText(read.title).text.trim() || name,
        text: text.trim(),
        mime: type.mime,
        notices: [...read.notices, ...noticesAbout(text, removed)],
      };
    },
    close: () => processes.close(),
  };
}
