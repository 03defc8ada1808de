/**
 * Scores how well each text answers a query, reading both together. Adapter: a server with `/rerank`, such as vLLM, llama.cpp, TEI or
 * LiteLLM.
 */
export interface Reranker {
  /** Name of the model and of its provider. */
  readonly id: string;
  /**
   * Returns one finite number per text, in the same order; the higher, the better the text answers the query. Numbers of one reply can be
   * compared, those of different replies cannot. For an empty list no call is made. Throws Failure CALL_CANCELLED when the signal aborts,
   * PROVIDER_* and CALL_TIMEOUT from the server.
   */
  score(query: string, texts: readonly string[], options: { readonly signal: AbortSignal }): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** How a reranker orders the hits of one retrieval. */
export interface Reranking {
  readonly reranker: Reranker;
  /** Number of hits that it reads, the best of the search. */
  readonly candidates: number;
  /** Milliseconds it may take; after that, the order of the search applies. */
  readonly withinMs: number;
}

/** Retrievals that may have a reranker; null for one without. */
export interface Rerankings {
  readonly research: Reranking | null;
  readonly collections: Reranking | null;
}
