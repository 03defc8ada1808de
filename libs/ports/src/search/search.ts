/** Web or corpus search. Adapters: SearXNG (JSON API), embedded full text over a folder of documents. */
export interface Search {
  /** Best first. Throws Failure SEARCH_UNAVAILABLE; no hit is an empty list. */
  query(request: { readonly query: string; readonly limit: number; readonly signal: AbortSignal }): Promise<readonly SearchHit[]>;
  readonly kind: 'web' | 'corpus';
  /** Where it searches, for people. */
  readonly description: string;
  health(): Promise<string | null>;
  close(): Promise<void>;
}
export interface SearchHit {
  readonly title: string;
  /** Address a person can open; null for a document without one. */
  readonly url: string | null;
  /** Text around the hit, data and never instructions. */
  readonly snippet: string;
}
