import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isInitializeRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Failure } from '@conclave/contracts';
import type { ServerBounds } from './bounds.js';
import { speaksOtherwise } from './failures.js';
import { beginsWithEndpoint } from './first-event.js';
import { isEventStream, type GuardedFetch } from './guarded-fetch.js';
import type { Launch } from './launch-plan.js';
import { SseTransport } from './sse-transport.js';

/**
 * An address of which we do not know which transport it speaks. The first message is posted to it as streamable HTTP. If the address
 * answers otherwise, and streams events that begin with an endpoint, it speaks the older HTTP with SSE (the protocol's page on
 * transports, "backwards compatibility").
 */
export class AddressTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Called for a call whose answer is too long, while the connection goes on. */
  onLost?: (id: number, failure: Failure) => void;
  private readonly streamable: StreamableHTTPClientTransport;
  private sse: SseTransport | null = null;
  private closed = false;
  private begun = false;

  constructor(
    private readonly launch: Extract<Launch, { kind: 'address' }>,
    private readonly bounds: ServerBounds,
    private readonly guard: GuardedFetch,
  ) {
    this.streamable = new StreamableHTTPClientTransport(new URL(launch.url), {
      fetch: (url, init) => (this.begun ? guard.fetch(url, init) : this.begin(url, init)),
      requestInit: { headers: { ...launch.headers } },
    });
    this.streamable.onerror = (error) => this.onerror?.(error);
    this.streamable.onmessage = (message) => this.onmessage?.(message);
  }

  /** Why its one stream ended by itself; null for streamable HTTP, whose streams belong to single calls. */
  get failure(): Failure | null {
    return this.sse?.failure ?? null;
  }

  start(): Promise<void> {
    return this.streamable.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.sse) return this.sse.send(message);
    try {
      await this.streamable.send(message, options);
      this.begun = true;
    } catch (error) {
      if (this.closed || !isInitializeRequest(message) || !speaksOtherwise(error)) throw error;
      const sse = await this.openSse();
      if (!sse) throw error;
      await sse.send(message);
    }
  }

  setProtocolVersion(version: string): void {
    this.streamable.setProtocolVersion(version);
  }

  /** Tells a server of streamable HTTP that its session is over. */
  terminateSession(): Promise<void> {
    return this.streamable.terminateSession();
  }

  async close(): Promise<void> {
    await this.streamable.close();
    this.sse?.close();
    this.ended();
  }

  /** The first request. Some older servers open their stream for any method; no server of streamable HTTP sends an endpoint. */
  private async begin(url: string | URL, init?: RequestInit): Promise<Response> {
    const response = await this.guard.fetch(url, init);
    if (!response.ok || !isEventStream(response)) return response;
    const { isEndpoint, rest } = await beginsWithEndpoint(response);
    return isEndpoint ? new Response(null, { status: 405 }) : new Response(rest, response);
  }

  /** The transport HTTP with SSE, opened; null if the address does not speak it. */
  private async openSse(): Promise<SseTransport | null> {
    const sse = new SseTransport(this.launch, this.bounds, this.guard);
    sse.onerror = (problem) => this.onerror?.(problem);
    sse.onmessage = (message) => this.onmessage?.(message);
    sse.onLost = (id, failure) => this.onLost?.(id, failure);
    const isOpen = await sse.open();
    if (!isOpen || this.closed) {
      sse.close();
      return null;
    }
    this.sse = sse;
    if (sse.failure) throw sse.failure;
    sse.onclose = () => this.ended();
    return sse;
  }

  private ended(): void {
    if (this.closed) return;
    this.closed = true;
    this.onclose?.();
  }
}
