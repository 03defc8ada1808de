import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { checkReach, type WebAddress } from './addresses.js';
import { checkedLookup, type Resolve } from './checked-lookup.js';

export interface Requested {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly resolve?: Resolve | undefined;
  readonly signal: AbortSignal;
  /** Called when the connection stands: from here on the other side may have seen the request. */
  readonly onSent?: () => void;
}

/** One request to a checked address; the socket's own address is checked again. Redirects are not followed. */
export function requested({ url, host, port, allowed }: WebAddress, options: Requested): Promise<IncomingMessage> {
  const { method, headers, body, resolve, signal, onSent } = options;
  return new Promise((resolvePromise, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
      protocol: url.protocol,
      host,
      port,
      path: url.pathname + url.search,
      method,
      headers: { ...headers, host: url.host },
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
          onSent?.();
        } catch (error) {
          request.destroy(error as Error);
        }
      }),
    );
    request.on('response', (response) => {
      // Whoever reads the body hears of its errors; nobody does where it is thrown away.
      response.on('error', () => undefined);
      resolvePromise(response);
    });
    request.on('error', reject);
    request.end(body);
  });
}
