import { randomUUID } from 'node:crypto';
import { methodsOf, patternOf, routes } from '@conclave/contracts';
import type { NextFunction, Request, Response } from 'express';
import type { GatewayMetrics } from '../options.js';

const templates = routes.map((route) => ({
  path: route.path,
  pattern: patternOf(route),
}));

/** Path of the route table that a raw path belongs to; `other` for paths nobody serves, so that labels stay bounded. */
export const routeOf = (path: string): string => templates.find(({ pattern }) => pattern.test(path))?.path ?? 'other';

/** Headers that every response carries, errors included, and one observation per request. A client's own `x-request-id` is kept. */
export function responseHeaders(metrics: GatewayMetrics) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const began = performance.now();
    const given = request.headers['x-request-id'];
    response.setHeader(
      'x-request-id',
      typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : `req_${randomUUID().replaceAll('-', '')}`,
    );
    response.setHeader('x-conclave', '1');
    response.once('close', () => {
      metrics.onRequest({
        method: methodLabel(request),
        route: routeOf(request.path),
        status: response.headersSent ? response.statusCode : 499,
        ms: performance.now() - began,
      });
    });
    next();
  };
}

const methodLabel = (request: Request): string => (methodsOf(request.path).includes(request.method) ? request.method : 'other');
