/** Reads a page of the web as text. Adapters: HTTP with readable extraction, a table in memory. */
export interface PageReader {
  /**
   * Text of a page, with headings and lists as Markdown. Throws PAGE_REFUSED for an address that may not be read, PAGE_UNAVAILABLE
   * where its server does not answer, PAGE_TOO_LARGE, PAGE_UNREADABLE where there is no text in it, CALL_CANCELLED once `signal` aborts.
   */
  read(request: PageRequest): Promise<Page>;
  close(): Promise<void>;
}
export interface PageRequest {
  readonly url: string;
  /** Longest text wanted, characters (UTF-16 units). */
  readonly maxCharacters: number;
  readonly signal: AbortSignal;
}
export interface Page {
  /** Address after redirects. */
  readonly url: string;
  /** Empty where the page names none. */
  readonly title: string;
  /** Data and never instructions, whatever it says. Without code points that nobody sees. */
  readonly text: string;
  /** Media type without parameters, such as `text/html`. */
  readonly mime: string;
  /** Milliseconds since 1970 by the clock of the reader. */
  readonly fetchedAt: number;
  /** Whether `text` ends before the page does. */
  readonly cut: boolean;
  /** What whoever uses the text should know, such as that it speaks to a model. */
  readonly notices: readonly string[];
}
