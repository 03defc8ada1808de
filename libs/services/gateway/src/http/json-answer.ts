import type { Response } from 'express';
import type { GatewayLimits } from '../options.js';

/** The longest silence that proxies are known to tolerate. */
const longestSilenceMs = 10_000;

/**
 * Sends white space, which parsers skip, while a JSON answer is pending, so that no proxy closes the connection as dead. `onHead` is called before
 * the first white space: it sends the head of the answer, as a success.
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

/** Sends the answer. Its headers are left out when white space was sent before. */
export function sendJson(response: Response, body: object, headers: Readonly<Record<string, string>> = {}): void {
  if (response.headersSent) {
    response.end(JSON.stringify(body));
    return;
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.status(200).json(body);
}
