import type { IncomingHttpHeaders } from 'node:http';
import { Failure } from '@conclave/contracts';
import { waitAskedFor } from '@conclave/ports';
import type { RetrySettings } from './configuration.js';

/**
 * Milliseconds a server asks to wait: `retry-after-ms`, else `Retry-After` in seconds or as HTTP date. Null when absent or unreadable;
 * never negative.
 */
export function retryAfterMs(headers: IncomingHttpHeaders, now: number): number | null {
  const milliseconds = numberIn(textIn(headers['retry-after-ms']));
  if (milliseconds !== null) return milliseconds;
  return waitAskedFor(headers['retry-after'], now);
}

const textIn = (value: string | string[] | undefined): string | undefined => (typeof value === 'string' ? value : value?.[0]);
const numberIn = (value: string | null | undefined): number | null =>
  value && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Math.ceil(Number(value)) : null;

/**
 * Milliseconds to wait before attempt `next` (2 = the first retry). A wait requested by the server is kept in full, plus up to a tenth
 * so that callers do not return together; otherwise between half and all of base * 2^(next - 2), at most the cap.
 */
export function backOffMs(next: number, asked: number | null, settings: RetrySettings, random: () => number = Math.random): number {
  if (asked !== null) return Math.round(asked * (1 + random() / 10));
  const step = Math.min(settings.cap_ms, settings.base_ms * 2 ** (next - 2));
  return Math.round(step / 2 + (random() * step) / 2);
}

/** Throws CALL_CANCELLED as soon as the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Failure('CALL_CANCELLED'));
    const stop = (): void => {
      clearTimeout(timer);
      reject(new Failure('CALL_CANCELLED'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
