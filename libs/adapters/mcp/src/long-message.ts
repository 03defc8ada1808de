import { Failure } from '@conclave/contracts';

/** Characters at both ends of a message that is not kept. */
const kept = 200;

/** A message that is this many times as long as one may be ends its connection: it may never end. */
export const longestRead = 16;

/** `bytes`: how long a message may be. */
export const tooLong = (bytes: number): Failure => new Failure('TOOL_RESULT_TOO_LARGE', `It sent a message longer than ${bytes} bytes.`);

/** The id as the first member of a message, or right behind the version. */
const atTheBeginning = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/;
/** The id as the last member, or right before the version: the last brace ends the message itself. */
const atTheEnd = /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/** A message that is too long to be kept. It is read to its end, to learn which call it answers; other calls go on. */
export class LongMessage {
  bytes = 0;
  private head = '';
  private tail = '';

  add(bytes: Uint8Array): void {
    const part = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.bytes += part.length;
    if (this.head.length < kept) this.head += part.toString('latin1', 0, kept - this.head.length);
    this.tail = (this.tail + part.toString('latin1', Math.max(0, part.length - kept))).slice(-kept);
  }

  /** The id of the call that it answers, once it is read; null if that cannot be told. */
  get id(): number | null {
    const found = atTheBeginning.exec(this.head) ?? atTheEnd.exec(this.tail);
    return found ? Number(found[1]) : null;
  }
}
