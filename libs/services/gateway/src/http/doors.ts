import type { NextFunction, Request, Response } from 'express';
import { type GatewayOptions, limitsOf } from '../options.js';
import { sendFailure } from './failure-response.js';
import { strangeness } from './hosts.js';

/** Before every route, known or not: while no keys are asked for, nobody is answered under a strange name or for a strange page. */
export function doors(options: GatewayOptions) {
  const rules = { allowedHosts: options.access?.allowedHosts ?? [], open: options.access?.open ?? false };
  return (request: Request, response: Response, next: NextFunction): void => {
    const failure = options.keys === null ? strangeness(request, rules) : null;
    if (failure === null) return next();
    options.metrics.onRefused(failure.code);
    sendFailure(response, failure, limitsOf(options).retryAfterS);
  };
}
