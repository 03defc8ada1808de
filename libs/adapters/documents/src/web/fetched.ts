import type { IncomingMessage } from 'node:http';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Readable } from 'node:stream';
import { Failure } from '@conclave/contracts';
import { redirected, webAddress, type AllowedHosts } from './addresses.js';
import type { Resolve } from './checked-lookup.js';
import { answerOf } from './checked-request.js';

export interface FetchLimits {
  /** Largest body in bytes: its declared length, and its unpacked size. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
}
export interface Fetched {
  readonly url: URL;
  /** Content-Type as it was sent, empty if there was none. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

const headers = {
  'user-agent': 'conclave',
  accept: 'text/html,application/xhtml+xml,text/plain;q=0.9,text/markdown;q=0.9,application/pdf;q=0.8,*/*;q=0.1',
  'accept-encoding': 'gzip, deflate, br',
};
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** One GET with its redirects, each of them checked. Throws PAGE_REFUSED, PAGE_UNAVAILABLE, PAGE_UNREADABLE, PAGE_TOO_LARGE. */
export async function fetched(
  text: string,
  parts: {
    readonly allowedHosts: AllowedHosts;
    readonly limits: FetchLimits;
    readonly resolve?: Resolve | undefined;
    readonly signal: AbortSignal;
  },
): Promise<Fetched> {
  let address = webAddress(text, parts.allowedHosts);
  for (let hop = 0; ; hop += 1) {
    const response = await answerOf(address, { method: 'GET', headers, resolve: parts.resolve, signal: parts.signal });
    try {
      const status = response.statusCode ?? 0;
      const { location } = response.headers;
      if (redirects.has(status) && location !== undefined) {
        if (hop >= parts.limits.maxRedirects)
          throw new Failure('PAGE_REFUSED', `It redirects more than ${parts.limits.maxRedirects} times.`);
        address = redirected(address, location, parts.allowedHosts);
        continue;
      }
      if (status < 200 || status > 299 || status === 204)
        throw new Failure(
          status >= 500 || status === 429 ? 'PAGE_UNAVAILABLE' : 'PAGE_UNREADABLE',
          `Its server answers with status ${status}.`,
        );
      return { url: address.url, type: response.headers['content-type'] ?? '', bytes: await bodyOf(response, parts.limits.maxBytes) };
    } finally {
      response.destroy();
    }
  }
}

/** The unpacked body. Its declared length and its unpacked size are limited. */
async function bodyOf(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): Failure => new Failure('PAGE_TOO_LARGE', `It is larger than ${maxBytes} bytes.`);
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const body = unpacked(response);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) throw tooLarge();
      parts.push(part);
    }
  } finally {
    body.destroy();
  }
  return Buffer.concat(parts);
}

function unpacked(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const unpack =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : null;
  if (unpack) {
    response.on('error', (error) => unpack.destroy(error));
    // Otherwise the reader of a body that ends early would wait forever.
    response.on('aborted', () => unpack.destroy(new Error('The body ended early.')));
    return response.pipe(unpack);
  }
  if (encoding !== 'identity' && encoding !== '') throw new Failure('PAGE_UNREADABLE', 'Its compression is not supported.');
  return response;
}
