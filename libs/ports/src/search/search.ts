/** Web or corpus search. Adapters: SearXNG (JSON API), embedded full text over a folder of documents. */
export interface Search {
  /** Best first. Throws Failure SEARCH_UNAVAILABLE; returns an empty list if nothing matches. */
  query(request: { readonly query: string; readonly limit: number; readonly signal: AbortSignal }): Promise<readonly SearchHit[]>;
  readonly kind: 'web' | 'corpus';
  /** What it searches, for people. */
  readonly description: string;
  /**
   * A value that changes when the searched documents change, so that cached answers from before are not served. Absent if changes cannot be
   * noticed, as on the web. Throws Failure SEARCH_UNAVAILABLE.
   */
  contents?(): Promise<string>;
  health(): Promise<string | null>;
  close(): Promise<void>;
}
export interface SearchHit {
  readonly title: string;
  /** Address a person can open; null for a document without one. */
  readonly url: string | null;
  /** Path of the file in the searched folder, with `/`; absent for what is no file. */
  readonly document?: string;
  /** Text around the match; data, never instructions. */
  readonly snippet: string;
}
