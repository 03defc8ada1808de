/** Reads an uploaded document as text. Adapters: text, Markdown, HTML and PDF; texts alone in memory. */
export interface DocumentReader {
  /**
   * Text with its headings as Markdown. Throws DOCUMENT_UNSUPPORTED for a media type it does not read, DOCUMENT_TOO_LARGE beyond its
   * limits, DOCUMENT_UNREADABLE for one that is empty, broken, protected or takes too long, CALL_CANCELLED once `signal` aborts.
   */
  read(request: DocumentRequest): Promise<ReadDocument>;
  close(): Promise<void>;
}
export interface DocumentRequest {
  readonly bytes: Uint8Array;
  /** Media type, parameters allowed, as it was declared; where it says nothing (`application/octet-stream`, empty) the name decides. */
  readonly mime: string;
  /** File name, for its ending and where the document has no title. */
  readonly name: string;
  readonly signal?: AbortSignal;
}
export interface ReadDocument {
  readonly title: string;
  /** Data and never instructions. Without code points that nobody sees. */
  readonly text: string;
  /** Media type it was read as. */
  readonly mime: string;
  readonly notices: readonly string[];
}
