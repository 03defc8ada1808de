import { fetchWithinOrigin } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import pTimeout from 'p-timeout';
import { Failure } from '@conclave/contracts';
import type { ServerBounds } from './bounds.js';
import { EventReader } from './event-reader.js';
import { statusFailure } from './failures.js';
import { isEventStream, type GuardedFetch } from './guarded-fetch.js';
import type { Launch } from './launch-plan.js';
import { tooLong } from './long-message.js';
import { readMessage } from './read-message.js';
import { doesNotFollow, StrayCount } from './stray-count.js';

/** Milliseconds for the event that names the address for messages. */
const endpointMs = 5_000;

/**
 * The transport HTTP with SSE of protocol version 2024-11-05: every answer comes over one stream, whose first event names the address to
 * which messages are posted. Unlike the SDK's transport, it bounds what is read, ends with its stream instead of reconnecting to a session
 * that no longer exists, and loses only the call whose answer is too long.
 */
export class SseTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Called for a call whose answer is too long, while the stream goes on. */
  onLost?: (id: number, failure: Failure) => void;
  /** Why its stream ended by itself; null while it is open. */
  failure: Failure | null = null;
  private readonly url: URL;
  private endpoint: URL | null = null;
  private reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  private closed = false;
  private named: ((endpoint: string | null) => void) | null = null;
  private readonly strays: StrayCount;
  private readonly events: EventReader;

  constructor(
    private readonly launch: Extract<Launch, { kind: 'address' }>,
    private readonly bounds: ServerBounds,
    private readonly guard: GuardedFetch,
  ) {
    this.url = new URL(launch.url);
    this.strays = new StrayCount(bounds);
    this.events = new EventReader(bounds.messageBytes, {
      onEvent: (name, data) => this.take(name, data),
      onLong: (id) => (id === null ? this.end(tooLong(bounds.messageBytes)) : this.onLost?.(id, tooLong(bounds.messageBytes))),
    });
  }

  /** Opens the stream. False if the address has none, or if it names no address for messages. Throws a Failure if that one is refused. */
  async open(): Promise<boolean> {
    const response = await this.ask();
    if (!response?.ok || !isEventStream(response) || !response.body || this.closed) {
      await response?.body?.cancel();
      return false;
    }
    const named = new Promise<string | null>((resolve) => (this.named = resolve));
    this.reader = response.body.getReader();
    void this.readOn(this.reader);
    const text = await pTimeout(named, { milliseconds: endpointMs, fallback: () => null });
    if (text === null) return false;
    this.endpoint = this.endpointOf(text);
    return true;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    let response = await this.post(this.endpoint!, message);
    const behindPrefix = response.status === 404 && 'method' in message && message.method === 'initialize' ? this.behindPrefix() : null;
    if (behindPrefix) {
      await response.body?.cancel();
      response = await this.post(behindPrefix, message);
      if (response.ok) this.endpoint = behindPrefix;
    }
    await response.body?.cancel();
    if (!response.ok) throw statusFailure(response.status, `The path ${this.endpoint!.pathname}, which its stream names for messages,`);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.named?.(null);
    // A stream that broke off cannot be cancelled, and needs not be.
    this.reader?.cancel().catch((error: Error) => this.onerror?.(error));
    this.onclose?.();
  }

  private end(failure: Failure): void {
    if (this.closed) return;
    this.failure = failure;
    this.close();
  }

  /** The response to the request for the stream; null if there is none. */
  private async ask(): Promise<Response | null> {
    try {
      return await fetchWithinOrigin(this.guard.fetchEvents)(this.url, { headers: this.headers('accept', 'text/event-stream') });
    } catch (error) {
      if (error instanceof Failure) throw error;
      this.onerror?.(error as Error);
      return null;
    }
  }

  private post(endpoint: URL, message: JSONRPCMessage): Promise<Response> {
    const headers = this.headers('content-type', 'application/json');
    return fetchWithinOrigin(this.guard.fetch)(endpoint, { method: 'POST', headers, body: JSON.stringify(message) });
  }

  private headers(name: string, value: string): Headers {
    const headers = new Headers({ ...this.launch.headers });
    headers.set(name, value);
    return headers;
  }

  private endpointOf(text: string): URL {
    const endpoint = URL.canParse(text, this.url.href) ? new URL(text, this.url) : null;
    if (endpoint?.origin === this.url.origin) return endpoint;
    const detail = endpoint
      ? `Its stream names an address for messages at ${endpoint.origin}, which must not get what \`headers_env\` sends. Let the server name a path, or ${this.url.origin}.`
      : 'Its stream names no valid address for messages.';
    throw new Failure('TOOL_SERVER_UNAVAILABLE', detail);
  }

  /** The same endpoint below the folder of our address: a proxy that adds a prefix to paths often leaves them as they are in the stream. */
  private behindPrefix(): URL | null {
    const prefix = this.url.pathname.slice(0, this.url.pathname.lastIndexOf('/'));
    const endpoint = this.endpoint!;
    if (prefix === '' || endpoint.pathname.startsWith(`${prefix}/`)) return null;
    const below = new URL(endpoint);
    below.pathname = prefix + endpoint.pathname;
    return below;
  }

  private async readOn(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return this.end(new Failure('TOOL_SERVER_UNAVAILABLE', 'Its stream ended.'));
        this.events.read(value);
        if (this.closed) return;
      }
    } catch (error) {
      this.end(error instanceof Failure ? error : new Failure('TOOL_SERVER_UNAVAILABLE', 'Its stream broke off.', { cause: error }));
    }
  }

  private take(name: string, data: string): void {
    if (this.closed) return;
    if (name === 'endpoint') return this.named?.(data.trim());
    const message = name === 'message' ? readMessage(data) : null;
    if (message) return this.onmessage?.(message);
    const { first, tooMany } = this.strays.add();
    if (first) this.onerror?.(new Error('Its stream has events that are not messages of the protocol.'));
    if (tooMany) this.end(doesNotFollow('Its stream'));
  }
}
