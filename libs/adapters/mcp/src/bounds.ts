/** How much a tool server may take of this process, whatever it does. Times in milliseconds, sizes in bytes. */
export interface Bounds {
  /** From the start of a program, or the first request to an address, to its list of tools. */
  readonly connectMs: number;
  /** How long `offers` waits for servers that are not connected yet. */
  readonly offersMs: number;
  /** A server that lets a call run out of its time must answer a ping within this. */
  readonly pingMs: number;
  /** Age at which a list of tools is asked for again. */
  readonly listAgeMs: number;
  /** Least time between two lists of one connection. */
  readonly listEveryMs: number;
  /** Longest wait between two connections to a server that fails, after doubling. */
  readonly longestPauseMs: number;
  /** One message: a list of tools, a result. */
  readonly messageBytes: number;
  /** Arguments of one call, as JSON. */
  readonly argumentBytes: number;
  readonly pages: number;
  readonly tools: number;
  /** Schemas of one tool together, as JSON. */
  readonly schemaBytes: number;
  /** Time for one schema and one value together; patterns of a schema may take for ever on the right text. */
  readonly schemaMs: number;
  /** What is no answer to us, in one second. */
  readonly unasked: number;
}

export const usualBounds: Bounds = {
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
  unasked: 1_000,
};
