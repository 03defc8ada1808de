import { Failure } from '@conclave/contracts';
import { firstCharacters, noticesAbout, visibleText, type Page, type PageReader, type PageRequest } from '@conclave/ports';
import { mediaTypeOf } from '../media-types.js';
import { ReadingProcesses, type ReadingProcessesOptions } from '../reading-processes.js';
import { AllowedHosts } from './addresses.js';
import type { Resolve } from './checked-lookup.js';
import { fetched, type Fetched } from './fetched.js';

export interface PageReaderOptions {
  /** Private hosts whose pages may be read: `host` or `host:port`. Throws CONFIGURATION_INVALID for anything else. */
  readonly allowHosts?: readonly string[];
  /** Time of one page with its redirects until its last byte, milliseconds. */
  readonly timeoutMs?: number;
  /** Largest page, bytes, unpacked. */
  readonly maxBytes?: number;
  readonly maxRedirects?: number;
  /** Pages of a PDF that are read. */
  readonly maxPages?: number;
  /** How names become addresses; the system's way by default. */
  readonly resolve?: Resolve;
  readonly reading?: ReadingProcessesOptions;
}

/**
 * Reads pages of the public web over HTTP. Every address to which a name resolves is checked when the socket is opened, and again for each
 * redirect; private ones are refused unless `allowHosts` lists their host. Opens no connection and starts no process by itself.
 */
export function openPageReader({
  allowHosts = [],
  timeoutMs = 15_000,
  maxBytes = 10 * 1024 * 1024,
  maxRedirects = 5,
  maxPages = 50,
  resolve,
  reading = {},
}: PageReaderOptions = {}): PageReader {
  const allowedHosts = new AllowedHosts(allowHosts);
  const processes = new ReadingProcesses({ timeoutMs: 8_000, ...reading });
  const closing = new AbortController();

  async function download(url: string, signal: AbortSignal): Promise<Fetched> {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), timeoutMs);
    const any = AbortSignal.any([signal, closing.signal, over.signal]);
    try {
      return await unlessAborted(fetched(url, { allowedHosts, limits: { maxBytes, maxRedirects }, resolve, signal: any }), any);
    } catch (error) {
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      if (closing.signal.aborted) throw new Failure('SHUTTING_DOWN');
      if (over.signal.aborted) throw new Failure('PAGE_UNAVAILABLE', `It was not received within ${timeoutMs} ms.`);
      if (error instanceof Failure) throw error;
      throw unavailable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async read({ url, maxCharacters, signal }: PageRequest): Promise<Page> {
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      const page = await download(url, signal);
      const type = mediaTypeOf(page.type, page.url.pathname, page.bytes);
      if (!type) throw new Failure('PAGE_UNREADABLE', `Pages of its media type${named(page.type)} are not read.`);
      if (page.bytes.length === 0) throw new Failure('PAGE_UNREADABLE', 'It is empty.');
      const fetchedAt = Date.now();
      const read = await processes.readSomehow(
        {
          kind: type.kind,
          bytes: page.bytes,
          charset: type.charset,
          limit: maxCharacters,
          pages: maxPages,
          strict: false,
          extract: 'readable',
          markdown: type.mime === 'text/markdown',
        },
        signal,
      );
      if ('failed' in read) throw new Failure(read.failed === 'too_large' ? 'PAGE_TOO_LARGE' : 'PAGE_UNREADABLE', read.message);
      const { text, removed } = visibleText(read.text);
      const words = text.trim();
      if (words === '') throw new Failure('PAGE_UNREADABLE', 'It contains no text.');
      return {
        url: page.url.href,
        title: visibleText(read.title).text.replace(/\s+/g, ' ').trim(),
        text: firstCharacters(words, maxCharacters),
        mime: type.mime,
        fetchedAt,
        cut: read.cut || words.length > maxCharacters,
        notices: [...read.notices, ...noticesAbout(words, removed)],
      };
    },
    async close() {
      closing.abort();
      await processes.close();
    },
  };
}

/** A media type, if it looks like one: foreign text must not reach the error message. */
function named(type: string): string {
  const mime = /^[a-z]{1,20}\/[a-z0-9.+-]{1,60}/i.exec(type.trim())?.[0];
  return mime ? ` (${mime.toLowerCase()})` : '';
}

/** A name lookup cannot be aborted: a caller whose signal aborts stops waiting for it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new Error('aborted'));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

/** A failure with the code of the network error, whose message could contain the addresses behind a name. */
function unavailable(error: unknown): Failure {
  const { code } = (error ?? {}) as { code?: unknown };
  return new Failure('PAGE_UNAVAILABLE', typeof code === 'string' ? `The connection failed (${code}).` : 'The connection failed.', {
    cause: error,
  });
}
