import { Failure } from '@conclave/contracts';
import type { Page, PageReader, PageRequest } from './pages.js';
import { firstCharacters, noticesAbout, visibleText } from './visible-text.js';

export interface StoredPage {
  readonly title?: string;
  readonly text: string;
  readonly mime?: string;
}

/** Pages from a table, for tests and simulations. Other addresses are unavailable. */
export class MemoryPages implements PageReader {
  /** Requested addresses, in order. */
  readonly asked: string[] = [];

  constructor(
    private readonly pages: Readonly<Record<string, StoredPage | Failure>>,
    private readonly now: () => number = Date.now,
  ) {}

  async read({ url, maxCharacters, signal }: PageRequest): Promise<Page> {
    if (signal.aborted) throw new Failure('CALL_CANCELLED');
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new Failure('PAGE_REFUSED', 'Only http and https addresses are read.');
    this.asked.push(url);
    const page = this.pages[url];
    if (!page) throw new Failure('PAGE_UNAVAILABLE', 'Nothing is stored under this address.');
    if (page instanceof Failure) throw page;
    const { text, removed } = visibleText(page.text);
    if (text.trim() === '') throw new Failure('PAGE_UNREADABLE', 'It contains no text.');
    return {
      url,
      title: page.title ?? '',
      text: firstCharacters(text, maxCharacters),
      mime: page.mime ?? 'text/plain',
      fetchedAt: this.now(),
      cut: text.length > maxCharacters,
      notices: noticesAbout(text, removed),
    };
  }

  async close(): Promise<void> {}
}
