import { Failure } from '@conclave/contracts';
import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** A body that arrives at this rate, in bytes per second, may take any time: a large document over a slow line. */
const slowestBytesPerS = 16 * 1024;
/** Longest time in milliseconds for any request, for the HTTP server itself: 56 MB at the slowest rate. */
export const longestRequestMs = 3_600_000;

/**
 * Ends requests whose body trickles in: a body may take `timeoutMs`, plus one second for each 16 KB that have arrived. A fixed limit would refuse
 * large documents on a slow line; no limit would let a client hold a connection by sending a byte now and then.
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
    // The body has arrived, but its route does not read it.
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
    // The rest of the body is not read.
    response.once('finish', () => socket.destroy());
    if (response.headersSent && response.writableFinished) socket.destroy();
  };
  timer = setTimeout(look, timeoutMs);
  const stop = (): void => clearTimeout(timer);
  request.once('end', stop).once('close', stop);
}
