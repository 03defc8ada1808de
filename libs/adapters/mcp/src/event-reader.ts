import { createParser, type EventSourceParser } from 'eventsource-parser';
import { LongMessage } from './long-message.js';

export interface EventTaker {
  /** `name`: `message` if the event has none. */
  onEvent(name: string, data: string): void;
  /** An event that is too long has ended. `id`: the call that it answers, or null if that cannot be told. */
  onLong(id: number | null): void;
}

const [lineFeed, carriageReturn] = [10, 13];
const dataBegins = /(?:^|[\r\n])data: ?/;

/** Reads the events of a stream. An event with more than `longest` bytes is not kept. */
export class EventReader {
  private pending: Uint8Array[] = [];
  private pendingBytes = 0;
  private long: LongMessage | null = null;
  private lineIsEmpty = true;
  private afterReturn = false;
  private readonly parser: EventSourceParser;

  constructor(
    private readonly longest: number,
    private readonly taker: EventTaker,
  ) {
    this.parser = createParser({ onEvent: ({ event, data }) => taker.onEvent(event ?? 'message', data) });
  }

  read(chunk: Uint8Array): void {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte !== lineFeed && byte !== carriageReturn) {
        this.lineIsEmpty = this.afterReturn = false;
        continue;
      }
      const isSecondHalf = byte === lineFeed && this.afterReturn;
      this.afterReturn = byte === carriageReturn;
      if (isSecondHalf) continue;
      if (this.lineIsEmpty) {
        this.hold(chunk.subarray(from, at + 1));
        this.eventEnds();
        from = at + 1;
      }
      this.lineIsEmpty = true;
    }
    if (from < chunk.length) this.hold(chunk.subarray(from));
  }

  private hold(part: Uint8Array): void {
    if (this.long) return this.long.add(part);
    this.pending.push(part);
    this.pendingBytes += part.length;
    if (this.pendingBytes <= this.longest) return;
    const held = this.taken();
    this.long = new LongMessage();
    // What stands before its data, such as its name, is short.
    const begin = dataBegins.exec(held.toString('latin1', 0, 1_000));
    this.long.add(held.subarray(begin ? begin.index + begin[0].length : 0));
  }

  private taken(): Buffer {
    const held = Buffer.concat(this.pending);
    [this.pending, this.pendingBytes] = [[], 0];
    return held;
  }

  private eventEnds(): void {
    if (this.long) {
      const { id } = this.long;
      this.long = null;
      return this.taker.onLong(id);
    }
    this.parser.feed(this.taken().toString('utf8'));
    // The parser waits for what follows a carriage return; one line end more does no harm.
    this.parser.feed('\n');
  }
}
