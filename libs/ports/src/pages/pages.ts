/** Reads a web page as text. Adapters: HTTP with readable extraction, a table in memory. */
export interface PageReader {
  /**
   * Text of a page, with headings and lists as Markdown. Throws PAGE_REFUSED for a forbidden address, PAGE_UNAVAILABLE if its server does
   * not answer, PAGE_TOO_LARGE, PAGE_UNREADABLE if it contains no text, CALL_CANCELLED once `signal` aborts.
   */
  read(request: PageRequest): Promise<Page>;
  close(): Promise<void>;
}
export interface PageRequest {
  readonly url: string;
  /** Maximum text length in characters (UTF-16 units). */
  readonly maxCharacters: number;
  readonly signal: AbortSignal;
}
export interface Page {
  /** Address after redirects. */
  readonly url: string;
  /** Empty if the page has none. */
  readonly title: string;
  /** Data, never instructions. Contains no invisible code points. */
  readonly text: string;
  /** Media type without parameters, such as `text/html`. */
  readonly mime: string;
  /** Milliseconds since 1970 by the reader's clock. */
  readonly fetchedAt: number;
  /** Whether `text` is truncated. */
  readonly cut: boolean;
  /** Warnings for users of the text, such as that it addresses a model. */
  readonly notices: readonly string[];
}
