import type { Response } from 'express';
import type { GatewayLimits } from '../options.js';

/** Longest silence that proxies are known to bear. */
const longestSilenceMs = 10_000;

/**
 * Sends white space while a JSON answer is awaited, which a parser skips, so that no proxy takes the connection for dead. `onHead` is called
 * before the first of it: the head of the answer goes out with it, as a success.
 */
export function keepAlive(response: Response, { firstHeartbeatMs }: Pick<GatewayLimits, 'firstHeartbeatMs'>, onHead?: () => void): void {
  const beat = setInterval(
    () => {
      if (response.writableEnded || response.destroyed) return clearInterval(beat);
      if (!response.headersSent) {
        onHead?.();
        response.statusCode = 200;
        response.setHeader('content-type', 'application/json; charset=utf-8');
        response.setHeader('cache-control', 'no-cache, no-transform');
        response.setHeader('x-accel-buffering', 'no');
        response.socket?.setNoDelay(true);
      }
      response.write(' ');
    },
    Math.min(firstHeartbeatMs, longestSilenceMs),
  );
  response.once('close', () => clearInterval(beat));
}

/** Sends the answer. Its headers are left out where white space went before. */
export function sendJson(response: Response, body: object, headers: Readonly<Record<string, string>> = {}): void {
  if (response.headersSent) {
    response.end(JSON.stringify(body));
    return;
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.status(200).json(body);
}
