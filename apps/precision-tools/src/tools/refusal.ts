/**
 * Why a tool returns no answer.
 *
 * INVALID_ARGUMENT: the caller must write the argument differently. LIMIT_EXCEEDED: the question is too large.
 * TIMEOUT, OUT_OF_MEMORY: the work was ended. BUSY: too many calls wait. NOT_FOUND: a law or paragraph that does not exist.
 * NOT_CONFIGURED: the operator must set something. UNAVAILABLE: the law server did not answer. INTERNAL: a bug of ours.
 */
export type RefusalCode =
  | 'INVALID_ARGUMENT'
  | 'LIMIT_EXCEEDED'
  | 'TIMEOUT'
  | 'OUT_OF_MEMORY'
  | 'BUSY'
  | 'NOT_FOUND'
  | 'NOT_CONFIGURED'
  | 'UNAVAILABLE'
  | 'UNKNOWN_TOOL'
  | 'INTERNAL';

/** Thrown by every tool instead of an answer. The message is for the calling model: it says what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly code: RefusalCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export const invalid = (message: string, options?: ErrorOptions): Refusal => new Refusal('INVALID_ARGUMENT', message, options);
export const tooLarge = (message: string): Refusal => new Refusal('LIMIT_EXCEEDED', message);

/** A short quotation of the caller's input, for a message. */
export const quoted = (text: string, longest = 40): string => {
  const points = Array.from(text.slice(0, 2 * longest + 2));
  return `"${points.length > longest ? `${points.slice(0, longest).join('')}…` : text}"`;
};
