/** Limits on what a tool server may cost this process. Times in milliseconds, sizes in bytes. */
export interface ServerBounds {
  /** From the start of a program to its list of tools. `npx` and `uvx` fetch a package at its first start. */
  readonly startMs: number;
  /** From the first request to an address to its list of tools; also for every later list. */
  readonly connectMs: number;
  /** How long `offers` waits for servers that are not connected yet. */
  readonly offersMs: number;
  /** Time to answer a ping after a call has timed out. */
  readonly pingMs: number;
  /** Age at which the list of tools is refreshed. */
  readonly listAgeMs: number;
  /** Shortest time between two lists of one connection. */
  readonly listEveryMs: number;
  /** Longest pause, after doubling, before reconnecting to a failing server. */
  readonly longestPauseMs: number;
  /** One message, such as a list of tools or a result. */
  readonly messageBytes: number;
  /** Arguments of one call, as JSON. */
  readonly argumentBytes: number;
  readonly pages: number;
  readonly tools: number;
  /** All schemas of one tool, as JSON. */
  readonly schemaBytes: number;
  /** Time to read one schema and check one value; patterns of a schema may never finish. */
  readonly schemaMs: number;
  /** Lines of a program, or events of a stream, in `strayMs` that are not messages, such as a greeting, or a line of a log per call. */
  readonly strayLines: number;
  readonly strayMs: number;
  /** Unsolicited messages in one second. */
  readonly unasked: number;
}

export const usualBounds: ServerBounds = {
  startMs: 60_000,
  connectMs: 15_000,
  offersMs: 3_000,
  pingMs: 3_000,
  listAgeMs: 60_000,
  listEveryMs: 1_000,
  longestPauseMs: 30_000,
  messageBytes: 4 * 1024 * 1024,
  argumentBytes: 256 * 1024,
  pages: 32,
  tools: 256,
  schemaBytes: 64 * 1024,
  schemaMs: 1_000,
  strayLines: 100,
  strayMs: 60_000,
  unasked: 1_000,
};
