import { createParser } from 'eventsource-parser';

/** Characters of one event; a server that sends more without an end does not end. */
const longestEvent = 16_000_000;

/** The data of each event of a stream, in order. `onBytes` hears of whatever comes, comments that keep the connection open included. */
export async function* dataOf(response: Response, onBytes: () => void): AsyncGenerator<string, void, undefined> {
  const ready: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void ready.push(data), maxBufferSize: longestEvent });
  const decoder = new TextDecoder();
  for await (const bytes of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    onBytes();
    parser.feed(decoder.decode(bytes, { stream: true }));
    while (ready.length > 0) yield ready.shift()!;
  }
}
