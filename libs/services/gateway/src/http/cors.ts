import cors from 'cors';
import type { RequestHandler } from 'express';
import { methodsOf } from '@conclave/contracts';

/** Our response headers that a page may read. */
const readable = [
  'x-run-id',
  'x-request-id',
  'x-conclave-cache',
  'x-conclave-cost',
  'x-conclave-model',
  'x-conclave-outcome',
  'x-conclave-rounds',
  'x-conclave-utility',
  'x-should-retry',
  'retry-after',
  ...['limit', 'remaining', 'reset'].flatMap((what) => [`x-ratelimit-${what}-requests`, `x-ratelimit-${what}-tokens`]),
];
/** Seconds for which a browser may cache the answer to a preflight request. */
const preflightS = 600;

/**
 * Lets pages of these origins call every route from a browser. Keys travel in headers that the page sets itself: cookies are never allowed. Pages
 * of other origins get no such header, so their browser does not show them the answer.
 */
export function forPages(origins: readonly string[]): RequestHandler {
  return cors((request, done) => {
    done(null, {
      origin: [...origins],
      methods: [...methodsOf(request.url.replace(/[?#].*$/, ''))],
      exposedHeaders: readable,
      maxAge: preflightS,
    });
  });
}
