import { connect, type Socket } from 'node:net';
import type { ChatCompletionChunk } from '@conclave/contracts';

/** One event of a stream as received on the wire. */
export interface WireEvent {
  readonly raw: string;
  /** Lines that begin with a colon. */
  readonly comment: string | null;
  readonly id: string | null;
  readonly event: string | null;
  readonly data: string | null;
}

/** Reads a stream event by event and drops no byte of it. */
export class SseClient {
  readonly events: WireEvent[] = [];
  ended = false;
  error: unknown = null;
  private rest = '';
  private readonly done: Promise<void>;

  constructor(response: Response) {
    this.done = this.pump(response);
  }

  private async pump(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
        this.rest += decoder.decode(bytes, { stream: true });
        for (let at = this.rest.indexOf('\n\n'); at >= 0; at = this.rest.indexOf('\n\n')) {
          this.events.push(parse(this.rest.slice(0, at)));
          this.rest = this.rest.slice(at + 2);
        }
      }
    } catch (error) {
      this.error = error;
    }
    this.ended = true;
  }

  /** All events; resolves when the stream has ended. */
  async all(): Promise<readonly WireEvent[]> {
    await this.done;
    return this.events;
  }
  /** Bytes after the last whole event. */
  get tail(): string {
    return this.rest;
  }
  get chunks(): ChatCompletionChunk[] {
    return this.events.flatMap(({ data }) =>
      data === null || data === '[DONE]' || data.startsWith('{"error"') ? [] : [JSON.parse(data) as ChatCompletionChunk],
    );
  }
  get content(): string {
    return this.chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  }
  get reasoning(): string {
    return this.chunks.map((chunk) => chunk.choices[0]?.delta.reasoning_content ?? '').join('');
  }
  get failure(): { readonly code: string; readonly message: string; readonly type: string; readonly param: string | null } | null {
    const event = this.events.find(({ data }) => data?.startsWith('{"error"'));
    return event ? JSON.parse(event.data!).error : null;
  }
}

function parse(raw: string): WireEvent {
  const field = (name: string): string | null => {
    const lines = raw.split('\n').filter((line) => line.startsWith(`${name}: `));
    return lines.length === 0 ? null : lines.map((line) => line.slice(name.length + 2)).join('\n');
  };
  return { raw, comment: raw.startsWith(':') ? raw : null, id: field('id'), event: field('event'), data: field('data') };
}

/** A client that writes raw HTTP: it can disconnect at any byte and can stop reading. */
export class RawClient {
  received = '';
  closed = false;
  private constructor(readonly socket: Socket) {
    socket.on('data', (bytes: Buffer) => (this.received += bytes.toString()));
    socket.on('close', () => (this.closed = true));
    socket.on('error', () => (this.closed = true));
  }
  static open(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) }, () => resolve(new RawClient(socket)));
      socket.once('error', reject);
    });
  }
  post(path: string, body: unknown, headers: Record<string, string> = {}): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const lines = Object.entries({
      host: 'localhost',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}`);
    this.socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${text}`);
  }
  leave(): void {
    this.socket.destroy();
  }
}
