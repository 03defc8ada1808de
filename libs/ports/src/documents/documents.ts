/** Reads an uploaded document as text. Adapters: text, Markdown, HTML, PDF, DOCX, XLSX and PPTX; in memory, text and Markdown only. */
export interface DocumentReader {
  /**
   * Returns the text with its headings as Markdown. Throws DOCUMENT_UNSUPPORTED for a media type it does not read, DOCUMENT_TOO_LARGE
   * beyond its limits, DOCUMENT_UNREADABLE for an empty, broken, protected or slow document, CALL_CANCELLED once `signal` aborts.
   */
  read(request: DocumentToRead): Promise<ReadDocument>;
  close(): Promise<void>;
}
export interface DocumentToRead {
  readonly bytes: Uint8Array;
  /** Declared media type, parameters allowed. If it is unspecific (`application/octet-stream`, empty), the name decides. */
  readonly mime: string;
  /** File name: its extension determines the type, and it replaces a missing title. */
  readonly name: string;
  readonly signal?: AbortSignal;
}
export interface ReadDocument {
  readonly title: string;
  /** Data, never instructions. Contains no invisible code points. */
  readonly text: string;
  /** Media type the document was read as. */
  readonly mime: string;
  readonly notices: readonly string[];
}
