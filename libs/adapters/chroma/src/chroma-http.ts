import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Failure } from '@conclave/contracts';
import { connectionWords } from '@conclave/ports';

/** A token is sent as `Authorization: Bearer` unless the server is configured to read `x-chroma-token`. */
export type ChromaCredentials =
  { readonly token: string; readonly header?: 'authorization' | 'x-chroma-token' } | { readonly user: string; readonly password: string };

/** PEM texts: the server's CA, and our own certificate if the server requires one. */
export interface ChromaTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface ChromaHttpOptions {
  /** Such as `http://127.0.0.1:8000`; a path before /api/v2 may follow. */
  readonly url: string;
  readonly credentials?: ChromaCredentials;
  readonly tls?: ChromaTls;
  /** Timeout of one request in milliseconds. */
  readonly timeoutMs: number;
}

export interface ChromaReply {
  readonly status: number;
  readonly body: unknown;
}

interface ChromaRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below /api/v2, with its parts already encoded. */
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Largest valid reply in characters: a thousand hits with the longest texts stay below it. */
const longestReply = 512 * 1024 * 1024;

/** Connections to one Chroma server. Follows no redirects, so that credentials reach no other server. */
export class ChromaHttp {
  private readonly base: URL;
  private readonly newAgent: (keepAlive: boolean) => HttpAgent;
  private readonly agent: HttpAgent;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly timeoutMs: number;

  /** Throws Failure CONFIGURATION_INVALID for an invalid address. */
  constructor({ url, credentials, tls, timeoutMs }: ChromaHttpOptions) {
    this.base = addressOf(url);
    this.timeoutMs = timeoutMs;
    this.newAgent = (keepAlive) =>
      this.base.protocol === 'https:'
        ? new HttpsAgent({ keepAlive, maxSockets: 16, ...tls })
        : new HttpAgent({ keepAlive, maxSockets: 16 });
    this.agent = this.newAgent(true);
    this.headers = { accept: 'application/json', 'user-agent': 'conclave', ...headersOf(credentials) };
  }

  /** Address of the server for messages. */
  get place(): string {
    return this.base.origin;
  }

  /**
   * Returns the server's reply for success, 404 and 409. Throws Failure VECTORS_UNAVAILABLE, the signal's reason when it aborts, and
   * ChromaRefused for a refused request, which is our own bug.
   */
  async ask(asked: ChromaRequest): Promise<ChromaReply> {
    asked.signal?.throwIfAborted();
    const limit = AbortSignal.timeout(this.timeoutMs);
    const signal = asked.signal ? AbortSignal.any([asked.signal, limit]) : limit;
    try {
      return this.read(await this.send(asked, signal));
    } catch (error) {
      if (error instanceof Failure || error instanceof ChromaRefused) throw error;
      if (asked.signal?.aborted) throw asked.signal.reason;
      const why = limit.aborted ? `within ${this.timeoutMs} ms` : `(${codeOf(error)})`;
      throw new Failure('VECTORS_UNAVAILABLE', `Chroma at ${this.place} did not answer ${why}.`, { cause: error });
    }
  }

  close(): void {
    this.agent.destroy();
  }

  /** Retries once when the server had closed the pooled connection; all our requests are safe to repeat. */
  private async send(asked: ChromaRequest, signal: AbortSignal): Promise<{ readonly status: number; readonly text: string }> {
    const first = await this.exchange(asked, signal);
    if ('text' in first) return first;
    if (!first.reused || signal.aborted) throw first.error;
    const second = await this.exchange(asked, signal, false);
    if ('text' in second) return second;
    throw second.error;
  }

  private exchange(
    { method, path, body }: ChromaRequest,
    signal: AbortSignal,
    pooled = true,
  ): Promise<{ readonly status: number; readonly text: string } | { readonly error: Error; readonly reused: boolean }> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const { protocol } = this.base;
    return new Promise((resolve) => {
      const request = (protocol === 'https:' ? httpsRequest : httpRequest)(`${this.base.href}api/v2${path}`, {
        method,
        // The retry uses a new connection: others in the pool may be dead as well.
        agent: pooled ? this.agent : this.newAgent(false),
        signal,
        headers: { ...this.headers, ...(payload ? { 'content-type': 'application/json', 'content-length': payload.length } : {}) },
      });
      const failed = (error: Error): void => resolve({ error, reused: request.reusedSocket });
      request.on('error', failed);
      request.on('response', (response) => {
        textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), failed);
      });
      request.end(payload);
    });
  }

  private read({ status, text }: { readonly status: number; readonly text: string }): ChromaReply {
    const unavailable = (detail: string): Failure => new Failure('VECTORS_UNAVAILABLE', `Chroma at ${this.place} ${detail}`);
    if (status === 401 || status === 403) throw unavailable(`does not accept the credentials (status ${status}).`);
    if (status === 429 || status >= 500) throw unavailable(`answered with status ${status}.`);
    if (status >= 300 && status < 400) throw unavailable('redirects to another address: write the final one into the configuration.');
    const body = jsonOf(text);
    if (body === undefined || (status === 404 && !('error' in Object(body))))
      throw unavailable(`has no API of version 2 there (status ${status}).`);
    if (status >= 400 && status !== 404 && status !== 409) throw new ChromaRefused(status, body);
    return { status, body };
  }
}

/** Chroma understood the request and refused it. Its message is left out, because it may quote stored data. */
export class ChromaRefused extends Error {
  constructor(
    readonly status: number,
    body: unknown,
  ) {
    const { error } = Object(body) as { error?: unknown };
    super(`Chroma refused a request with status ${status}${typeof error === 'string' && /^\w{1,64}$/.test(error) ? ` (${error})` : ''}.`);
    this.name = 'ChromaRefused';
  }
}

function addressOf(url: string): URL {
  let address: URL;
  try {
    address = new URL(url);
  } catch (error) {
    throw new Failure('CONFIGURATION_INVALID', 'The address of Chroma is not a URL.', { cause: error });
  }
  if (!/^https?:$/.test(address.protocol) || address.username || address.password || address.search || address.hash)
    throw new Failure('CONFIGURATION_INVALID', 'The address of Chroma is http(s)://host:port, without user, query or fragment.');
  if (!address.pathname.endsWith('/')) address.pathname += '/';
  return address;
}

function headersOf(credentials: ChromaCredentials | undefined): Readonly<Record<string, string>> {
  if (!credentials) return {};
  if ('token' in credentials)
    return credentials.header === 'x-chroma-token'
      ? { 'x-chroma-token': credentials.token }
      : { authorization: `Bearer ${credentials.token}` };
  return { authorization: `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}` };
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > longestReply) throw new Error('The reply is too long.');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Undefined for invalid JSON; null for an empty reply. */
function jsonOf(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    // The caller decides what that means.
    return undefined;
  }
}

const codeOf = (error: unknown): string => {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  return connectionWords(String(code ?? name ?? 'unknown'));
};
