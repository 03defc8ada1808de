import { isWithinOrigin, type FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Failure } from '@conclave/contracts';
import type { ServerBounds } from './bounds.js';
import { longestRead, tooLong } from './long-message.js';

/** Timeout in milliseconds of messages without an answer. */
const noticeMs = 5_000;
/** Most open streams per server. */
const mostStreams = 128;
/** Milliseconds for the last data of an ended stream to reach its reader. */
const settlingMs = 50;

export interface FetchWatch {
  /** The response to a request ended before its answer. */
  onLost(requestId: string | number, failure: Failure): void;
}

/**
 * `fetch` for the SDK's transport that fixes three gaps: there, a cancelled request keeps its connection, a broken response leaves its
 * request waiting, and responses have no size limit. A redirect to another origin, which must not see the configured headers, fails with
 * a sentence.
 */
export class GuardedFetch {
  private readonly open = new Map<AbortController, string | number | null>();
  private readonly timers = new Set<NodeJS.Timeout>();

  constructor(
    private readonly bounds: ServerBounds,
    private readonly watch: FetchWatch,
  ) {}

  readonly fetch: FetchLike = (url, init) => this.ask(url, init, this.bounds.messageBytes);

  /** For a stream whose reader bounds its events itself, unless one may never end. */
  readonly fetchEvents: FetchLike = (url, init) => this.ask(url, init, longestRead * this.bounds.messageBytes);

  close(): void {
    for (const timer of this.timers) clearTimeout(timer);
    for (const control of [...this.open.keys()]) control.abort();
  }

  private async ask(url: string | URL, init: RequestInit | undefined, longest: number): Promise<Response> {
    const message = messageOf(init?.body);
    const request = message && 'method' in message && message.id !== undefined ? message.id : null;
    if (this.open.size >= mostStreams) throw new Failure('TOOL_SERVER_UNAVAILABLE', 'It has too many streams open.');
    const control = new AbortController();
    this.open.set(control, request);
    const notice = message !== null && request === null ? setTimeout(() => control.abort(), noticeMs) : undefined;
    const end = (): void => {
      clearTimeout(notice);
      this.open.delete(control);
    };
    try {
      const response = await fetch(url, { ...init, signal: control.signal, redirect: 'manual' });
      if (response.status >= 300 && response.status < 400 && !staysWithinOrigin(response, url, init?.method)) {
        await response.body?.cancel();
        throw new Failure('TOOL_SERVER_UNAVAILABLE', 'It redirects to another address: write the final one into the configuration.');
      }
      if ((response.status === 401 || response.status === 403) && asksForOAuth(response)) {
        await response.body?.cancel();
        throw new Failure(
          'TOOL_SERVER_UNAVAILABLE',
          `It answers with status ${response.status} and wants a sign-in by OAuth, which is not supported. Let \`headers_env\` send a token that it accepts.`,
        );
      }
      if (message?.method === 'notifications/cancelled')
        this.abort((message.params as { requestId?: string | number } | undefined)?.requestId);
      return this.guarded(response, request, longest, end);
    } catch (error) {
      end();
      throw error;
    }
  }

  private abort(request: string | number | undefined): void {
    for (const [control, id] of this.open) if (id !== null && id === request) control.abort();
  }

  private guarded(response: Response, request: string | number | null, longest: number, end: () => void): Response {
    if (!response.body) {
      end();
      return response;
    }
    const stream = isEventStream(response);
    const event = new EventBytes();
    let total = 0;
    const ended = (failure: Failure): void => {
      end();
      // The transport resumes a stream whose events have ids.
      if (!stream || request === null || (event.hasId && failure.code !== 'TOOL_RESULT_TOO_LARGE')) return;
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        this.watch.onLost(request, failure);
      }, settlingMs);
      this.timers.add(timer);
    };
    const reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { value, done } = await reader.read();
          if (done) {
            ended(new Failure('TOOL_SERVER_UNAVAILABLE', 'Its answer ended too early.'));
            return controller.close();
          }
          total = stream ? event.after(value) : total + value.length;
          if (total > longest) {
            const failure = tooLong(longest);
            ended(failure);
            controller.error(failure);
            return await reader.cancel();
          }
          controller.enqueue(value);
        } catch (error) {
          ended(new Failure('TOOL_SERVER_UNAVAILABLE', 'Its connection broke off.', { cause: error }));
          controller.error(error);
        }
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    });
    return new Response(body, response);
  }
}

/** Counts the bytes of the incomplete event of a stream, and notes whether any event had an id. */
class EventBytes {
  hasId = false;
  private bytes = 0;
  private tail = '';

  after(chunk: Uint8Array): number {
    const text = this.tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    this.hasId ||= /(^|[\r\n])id:/.test(text);
    const blank = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'));
    this.bytes = blank >= 0 ? text.length - blank : this.bytes + chunk.length;
    this.tail = text.slice(-3);
    return this.bytes;
  }
}

/** Whether a redirect keeps to the origin and to the method of the request; the SDK follows such ones. */
function staysWithinOrigin({ status, headers }: Response, from: string | URL, method = 'GET'): boolean {
  const to = headers.get('location');
  const keepsMethod = status === 307 || status === 308 || method === 'GET';
  return to !== null && keepsMethod && URL.canParse(to, String(from)) && isWithinOrigin(new URL(from), new URL(to, from));
}

export const isEventStream = ({ headers }: Response): boolean => /^\s*text\/event-stream\b/i.test(headers.get('content-type') ?? '');

/** Servers that need OAuth name the document that describes how to sign in (RFC 9728). */
const asksForOAuth = ({ headers }: Response): boolean => /\bresource_metadata\s*=/i.test(headers.get('www-authenticate') ?? '');

type Message = { readonly method?: string; readonly id?: string | number; readonly params?: unknown };

/** The message of a request body; null for a request without one. */
function messageOf(body: unknown): Message | null {
  if (typeof body !== 'string') return null;
  const message: unknown = JSON.parse(body);
  return typeof message === 'object' && message !== null && !Array.isArray(message) ? message : null;
}
