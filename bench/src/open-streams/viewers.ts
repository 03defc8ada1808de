import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Sockets that are opened at once: more would exceed the listener's backlog. */
const openedAtOnce = 50;
const openWithinMs = 60_000;

/** Readers of event streams, each on its own connection. What they read is counted, not stored. */
export class Viewers {
  private readonly viewers: Viewer[] = [];

  /** Opens `count` viewers, spread over the addresses; resolves when each has received the head of its stream and a first event. */
  async open(urls: readonly URL[], count: number): Promise<void> {
    for (let n = 0; n < count; n += openedAtOnce) {
      const some = Array.from({ length: Math.min(openedAtOnce, count - n) }, (_, k) => new Viewer(urls[(n + k) % urls.length]!));
      this.viewers.push(...some);
      await Promise.all(some.map((viewer) => viewer.begun));
    }
  }

  /** Number of viewers whose stream is still open. */
  get stillOpen(): number {
    return this.viewers.filter(({ isOpen }) => isOpen).length;
  }

  /** Mean number of bytes that each has read. */
  get meanBytes(): number {
    return this.viewers.reduce((sum, { bytes }) => sum + bytes, 0) / this.viewers.length;
  }

  /** Number of viewers that read `text` within their last 4 KB. */
  thatRead(text: string): number {
    return this.viewers.filter(({ last }) => last.includes(text)).length;
  }

  /** Waits until this many have read `text`. Throws after `withinMs`. */
  async until(text: string, count: number, withinMs: number): Promise<void> {
    const end = performance.now() + withinMs;
    while (this.thatRead(text) < count) {
      if (performance.now() > end)
        throw new Error(`${this.thatRead(text)} of ${count} viewers read ${JSON.stringify(text)} within ${withinMs / 1_000} s.`);
      await delay(100);
    }
  }

  close(): void {
    for (const viewer of this.viewers) viewer.close();
  }
}

const keptCharacters = 4_096;

class Viewer {
  /** The end of what was read. */
  last = '';
  isOpen = true;
  bytes = 0;
  readonly begun: Promise<void>;
  private readonly socket: Socket;

  constructor(url: URL) {
    this.socket = connect(Number(url.port), url.hostname);
    this.begun = new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`A stream did not begin within ${openWithinMs / 1_000} s: ${this.last}`)),
        openWithinMs,
      );
      this.socket.setEncoding('latin1').on('data', (text: string) => {
        this.bytes += text.length;
        this.last = (this.last + text).slice(-keptCharacters);
        if (!this.last.includes('\ndata: ')) return;
        clearTimeout(timer);
        resolve();
      });
      this.socket.once('close', () => {
        this.isOpen = false;
        clearTimeout(timer);
        reject(new Error(`A stream ended before its first event: ${this.last}`));
      });
      this.socket.once('error', reject);
    });
    this.socket.write(
      `GET ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer bench\r\naccept: text/event-stream\r\n\r\n`,
    );
  }

  close(): void {
    this.socket.destroy();
  }
}
