import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { checkReach, type WebAddress } from './addresses.js';
import { checkedLookup, type Resolve } from './checked-lookup.js';

export interface WebRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How names become addresses; the system's way by default. */
  readonly resolve?: Resolve | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sends one request and returns the head of its response. The address is checked when the socket is opened. Throws PAGE_REFUSED; errors of
 * the socket pass through.
 */
export function answerOf({ url, host, port, allowed }: WebAddress, asked: WebRequest): Promise<IncomingMessage> {
  const { method, headers, body, resolve, signal } = asked;
  return new Promise((resolvePromise, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
      protocol: url.protocol,
      host,
      port,
      path: url.pathname + url.search,
      method,
      headers: { ...headers, host: url.host, ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }) },
      lookup: checkedLookup(allowed, resolve),
      // No connection is shared: each is made to an address that was checked for this request.
      agent: false,
      signal,
      maxHeaderSize: 32_768,
      ...(url.protocol === 'https:' && !/^[\d.]+$|:/.test(host) ? { servername: host } : {}),
    });
    request.on('socket', (socket) =>
      socket.once('connect', () => {
        try {
          checkReach(socket.remoteAddress ?? '', allowed);
        } catch (error) {
          request.destroy(error as Error);
        }
      }),
    );
    request.on('response', (response) => {
      // The reader of the body receives its errors; without a reader they would end the process.
      response.on('error', () => undefined);
      resolvePromise(response);
    });
    request.on('error', reject);
    request.end(body);
  });
}
