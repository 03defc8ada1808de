import { Failure } from '@conclave/contracts';
import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** A body that comes at this rate, in bytes per second, may take as long as it needs: a large document over a slow line. */
const slowestBytesPerS = 16 * 1024;
/** Longest time in milliseconds for any request, for the HTTP server itself: at the slowest rate, 56 MB. */
export const longestRequestMs = 3_600_000;

/**
 * Ends requests whose body trickles: it may take `timeoutMs`, and a second more for each 16 KB that have arrived. Otherwise a client that sends a
 * byte now and then would hold a connection for as long as it likes, or a slow line could never upload a document.
 */
export function slowBodies(timeoutMs: number, refuse: (response: Response, failure: Failure) => void): RequestHandler {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (hasBody(request)) watch(request, response, timeoutMs, refuse);
    next();
  };
}

const hasBody = ({ headers }: Request): boolean => headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function watch(request: Request, response: Response, timeoutMs: number, refuse: (response: Response, failure: Failure) => void): void {
  const { socket } = request;
  const [startedAt, before] = [performance.now(), socket.bytesRead];
  let timer: NodeJS.Timeout;
  const look = (): void => {
    // It is here, and its route does not read it.
    if (request.complete) return;
    const allowedMs = timeoutMs + ((socket.bytesRead - before) / slowestBytesPerS) * 1_000;
    const leftMs = startedAt + allowedMs - performance.now();
    if (leftMs > 0) {
      timer = setTimeout(look, leftMs);
      return;
    }
    const seconds = Math.round(timeoutMs / 1_000);
    if (!response.headersSent)
      refuse(response, new Failure('REQUEST_TOO_SLOW', `The limit is ${seconds} s (\`gateway.request_timeout_s\`).`));
    // What still trickles in is not read.
    response.once('finish', () => socket.destroy());
    if (response.headersSent && response.writableFinished) socket.destroy();
  };
  timer = setTimeout(look, timeoutMs);
  const stop = (): void => clearTimeout(timer);
  request.once('end', stop).once('close', stop);
}
