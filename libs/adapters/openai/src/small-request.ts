import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { proxyFor } from './proxy.js';

/** Longest reply in bytes. Lists of thousands of models have a few megabytes. */
const longestReply = 32 * 1024 * 1024;

export interface SmallRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Its reason is thrown when it aborts. */
  readonly signal: AbortSignal;
}

export interface SmallReply {
  /** True for a status from 200 to 299. */
  readonly ok: boolean;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * One request whose reply is read whole, with the HTTP client of Node's core and without redirects. Loading a client for many connections
 * takes some 90 ms of processor time, most of what a service needs to list models at its start.
 * Throws the error of the connection, with its code, the reason of the signal, or an error for a reply over 32 MB.
 */
export async function smallRequest(url: URL, sent: SmallRequest): Promise<SmallReply> {
  return proxyFor(url) === null ? direct(url, sent) : throughProxy(url, sent);
}

function direct(url: URL, { method = 'GET', headers, body, signal }: SmallRequest): Promise<SmallReply> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(signal.aborted ? (signal.reason as Error) : (error as Error));
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const sent = send(url, { method, headers: { 'user-agent': 'conclave', ...headers }, signal }, (response) => {
      readWhole(response).then((text) => {
        const status = response.statusCode ?? 0;
        resolve({ ok: status >= 200 && status < 300, status, headers: response.headers, text });
      }, fail);
    });
    sent.on('error', fail);
    sent.end(body);
  });
}

/** Throws for a reply over 32 MB. */
export async function readWhole(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > longestReply) throw new Error('The reply is longer than 32 MB.');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Node's core knows no proxies. */
async function throughProxy(url: URL, { method = 'GET', headers, ...sent }: SmallRequest): Promise<SmallReply> {
  const { send } = await import('./connections.js');
  const {
    statusCode: status,
    headers: said,
    body,
  } = await send(url, { method, headers: { 'user-agent': 'conclave', ...headers }, ...sent });
  return { ok: status >= 200 && status < 300, status, headers: said, text: await readWhole(body) };
}

const isJson = (headers: IncomingHttpHeaders): boolean => /^[^;]*[/+]json\b/i.test(headers['content-type'] ?? '');

/** The JSON of a reply, or the text of anything else. JSON is recognised even if the headers do not declare it. Throws SyntaxError. */
export function contentOf(headers: IncomingHttpHeaders, text: string): unknown {
  if (isJson(headers)) return JSON.parse(text);
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
